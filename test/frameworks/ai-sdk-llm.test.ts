import { describe, expect, it, onTestFinished } from "vitest";
import { createAgent, type Llm } from "../../src/agent/index.ts";
import { createPrincipal, ToolArsenal } from "../../src/index.ts";
import { llmContract, type ModelTurn } from "../../src/testing/index.ts";
import { openModel } from "../doubles/llms/model-double.ts";
import { frameworksInstalled } from "./frameworks.ts";

const isInstalled = frameworksInstalled();

/** A model of the AI SDK behind the double of OpenAI's Chat Completions API. */
async function make(turns: readonly ModelTurn[]) {
  const { createOpenAI } = (await import(/* @vite-ignore */ `${"@ai-sdk"}/openai`)) as {
    createOpenAI(settings: object): { chat(model: string): never };
  };
  const { aiSdkLlm } = await import("../../src/integrations/ai-sdk.ts");
  const double = await openModel("openai", turns);
  const { apiBase: baseURL, apiKey, model } = double.settings;
  const adapter: Llm = aiSdkLlm(createOpenAI({ baseURL, apiKey }).chat(model ?? ""));
  return { adapter, dispose: () => double.close() };
}

// because the frameworks are large, and only test/frameworks has them
describe.skipIf(!isInstalled)("aiSdkLlm", () => {
  for (const { name, run } of llmContract(make)) it(name, run);

  it("runs createAgent: the agent's loop makes the calls, under policy", async () => {
    const { adapter: llm, dispose } = await make([
      { calls: [{ name: "find_order", arguments: { order: "7" } }] },
      { text: "In Porto." },
    ]);
    const arsenal = new ToolArsenal();
    onTestFinished(async () => {
      await arsenal.close();
      await dispose();
    });
    arsenal.register({ name: "find_order", description: "Looks up an order" }, () => ({ city: "Porto" }));
    const agent = createAgent({ llm, arsenal, principal: createPrincipal({ id: "agent" }) });
    const { text, messages } = await agent.run("Where is order 7?").result;
    expect(text).toBe("In Porto.");
    expect(messages[2]).toMatchObject({ role: "tool", results: [{ result: { result: { city: "Porto" } } }] });
  });
});
