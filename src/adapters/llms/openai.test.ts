import { describe, it } from "vitest";
import { openModel } from "../../../test/doubles/llms/model-double.ts";
import { llmContract, type ModelTurn } from "../../testing/index.ts";
import { openaiLlm } from "./openai.ts";

describe("OpenAI's Chat Completions", () => {
  const make = async (turns: readonly ModelTurn[]) => {
    const double = await openModel("openai", turns);
    return { adapter: openaiLlm(double.settings), dispose: () => double.close() };
  };
  for (const { name, run } of llmContract(make)) it(name, run);
});
