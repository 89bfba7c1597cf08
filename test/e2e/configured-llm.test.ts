import { internalsOf } from "../../src/arsenal.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MODEL_APIS, openModel } from "../doubles/llms/model-double.ts";
import { ToolArsenal } from "../../src/index.ts";
import { checkAdapters } from "../../src/config/start/check-adapters.ts";
import { createSurroundings } from "../../src/wire/surroundings.ts";
import { resolveConfig } from "../../src/config/load/resolve-config.ts";

const QUESTION = { messages: [{ role: "user", text: "Are you there?" }], tools: [] } as const;

describe("llm in a configuration", () => {
  it.each(MODEL_APIS)("gives the arsenal a model behind %s, with the key from the environment", async (type) => {
    const double = await openModel(type, [{ text: "Yes." }]);
    const folder = mkdtempSync(join(tmpdir(), "llm-"));
    const { model, apiBase, apiKey } = double.settings;
    const file = join(folder, "arsenal.yaml");
    writeFileSync(file, `llm:\n  type: ${type}\n  model: ${model}\n  api_base: ${apiBase}\n  api_key: env:THE_KEY\n`);
    onTestFinished(async () => {
      rmSync(folder, { recursive: true });
      await double.close();
    });
    await using arsenal = await ToolArsenal.fromConfig(file, { environment: { THE_KEY: apiKey } });
    expect(internalsOf(arsenal).llm?.name).toBe(`${type}/${model}`);
    expect((await internalsOf(arsenal).llm?.next(QUESTION))?.message.text).toBe("Yes.");
  });

  it("hands on more members of the body as they are written", async () => {
    const double = await openModel("gemini", [{ text: "Yes." }]);
    const folder = mkdtempSync(join(tmpdir(), "llm-"));
    const { model, apiBase, apiKey } = double.settings;
    const file = join(folder, "arsenal.yaml");
    const body = "{ generationConfig: { thinkingConfig: { thinkingLevel: low } } }";
    writeFileSync(
      file,
      `llm:\n  type: gemini\n  model: ${model}\n  api_base: ${apiBase}\n  api_key: ${apiKey}\n  max_tokens: 9\n  extra_body: ${body}\n`,
    );
    onTestFinished(async () => {
      rmSync(folder, { recursive: true });
      await double.close();
    });
    await using arsenal = await ToolArsenal.fromConfig(file);
    await internalsOf(arsenal).llm?.next(QUESTION);
    const generationConfig = { maxOutputTokens: 9, thinkingConfig: { thinkingLevel: "low" } };
    expect(double.requests[0]?.body).toMatchObject({ generationConfig });
  });

  it("names no model unless one is configured, and OpenAI if only the model is named", async () => {
    await using none = new ToolArsenal();
    expect(internalsOf(none).llm).toBeUndefined();
    await using some = new ToolArsenal({ llm: { model: "gpt-5" } });
    expect(internalsOf(some).llm?.name).toBe("openai/gpt-5");
  });

  it("needs a model", () => {
    expect(() => new ToolArsenal({ llm: { type: "anthropic" } })).toThrow("llm.model: is needed for anthropic");
  });

  it("reports a missing key by the name of its variable", async () => {
    await using arsenal = new ToolArsenal({ llm: { type: "gemini", model: "gemini-3" }, environment: {} });
    await expect(internalsOf(arsenal).llm?.next(QUESTION)).rejects.toThrow(/GEMINI_API_KEY/);
  });

  it("is checked by doctor, which says what is wrong without the key", async () => {
    const double = await openModel("anthropic", [{ text: "OK" }]);
    onTestFinished(() => double.close());
    const check = async (apiKey: string) => {
      const config = resolveConfig({ llm: { ...double.settings, apiKey } });
      const reports = await checkAdapters(config, createSurroundings(config, {}));
      return reports.find(({ part }) => part === "llm");
    };
    expect(await check(double.settings.apiKey ?? "")).toEqual({ part: "llm", message: "anthropic/scripted-1 answers" });
    const failed = String((await check("sk-ant-wrong-123456"))?.error);
    expect(failed).toContain("llm.api_key");
    expect(failed).not.toContain("sk-ant-wrong-123456");
  });
});
