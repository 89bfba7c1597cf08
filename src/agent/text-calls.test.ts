import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../arsenal.ts";
import { createPrincipal } from "../guard/principal.ts";
import { say, scriptedLlm } from "../testing/scripted-llm.ts";
import { createAgent } from "./create-agent.ts";

const principal = createPrincipal({ id: "agent" });
const CALL = String.raw`{"function_call": {"name": "calculator", "arguments": "{\"operation\": \"multiply\", \"a\": 12, \"b\": 8}"}}`;

function calculator(): ToolArsenal {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" } });
  arsenal.register(
    {
      name: "calculator",
      description: "Performs basic arithmetic operations",
      parameters: {
        type: "object",
        properties: { operation: { type: "string" }, a: { type: "number" }, b: { type: "number" } },
        required: ["operation", "a", "b"],
      } as const,
    },
    ({ a, b }) => a * b,
  );
  return arsenal;
}

async function toolMessages(text: string, options: object = {}): Promise<readonly unknown[]> {
  const agent = createAgent({ llm: scriptedLlm([text, "96"]), arsenal: calculator(), principal, ...options });
  const { messages } = await agent.run("Performs basic arithmetic").result;
  return messages.filter(({ role }) => role === "tool");
}

describe("a function_call in the model's text", () => {
  it.each([
    ["alone", CALL],
    ["in a code fence", `\`\`\`json\n${CALL}\n\`\`\``],
    ["in the middle of a sentence", `I call ${CALL} now.`],
    ["in a fence after a sentence", `Let me see:\n\n\`\`\`\n${CALL}\n\`\`\`\n`],
    ["beside a thought", CALL.replace("{", '{"thought": "a } in a string", ')],
    [
      "with arguments as an object",
      '{"function_call":{"name":"calculator","arguments":{"operation":"x","a":12,"b":8}}}',
    ],
  ])("%s is run, and its result returned as text [004-agent-detect] [004-agent-loop]", async (_where, text) => {
    expect(await toolMessages(text)).toMatchObject([
      { format: "text", results: [{ result: { toolId: "default.calculator", result: 96 } }] },
    ]);
  });

  it("is run once for each one there is", async () => {
    const messages = await toolMessages(`First ${CALL}, then ${CALL}.`);
    expect(messages).toMatchObject([{ results: [{ result: { result: 96 } }, { result: { result: 96 } }] }]);
  });

  it("of an unknown tool is answered if there is nothing else, and is prose inside prose", async () => {
    const unknown = CALL.replace("calculator", "rocket");
    expect(await toolMessages(unknown)).toMatchObject([
      { results: [{ result: { error: { code: "TOOL_NOT_FOUND" } } }] },
    ]);
    expect(await toolMessages(`The page says ${unknown}.`)).toEqual([]);
  });

  it("is prose if the agent says so, or if it is broken", async () => {
    expect(await toolMessages(CALL, { textCalls: false })).toEqual([]);
    expect(await toolMessages(`I call ${CALL.slice(0, -3)}`)).toEqual([]);
    expect(await toolMessages('{"function_call": "x"}')).toEqual([]);
  });

  it("costs no time that grows with the square of the text", async () => {
    expect(await toolMessages('{"function_call":'.repeat(20_000))).toEqual([]);
  });

  it("is left alone if there are real calls", async () => {
    const args = { operation: "x", a: 2, b: 2 };
    const llm = scriptedLlm([say(`Not ${CALL}`, ["calculator", args]), say("4")]);
    const { messages } = await createAgent({ llm, arsenal: calculator(), principal }).run("Performs basic arithmetic")
      .result;
    expect(messages[2]).toMatchObject({ format: "native", results: [{ result: { result: 4 } }] });
  });
});
