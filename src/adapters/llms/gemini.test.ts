import { describe, it } from "vitest";
import { openModel } from "../../../test/doubles/llms/model-double.ts";
import { llmContract, type ModelTurn } from "../../testing/index.ts";
import { geminiLlm } from "./gemini.ts";

describe("Google's Gemini API", () => {
  const make = async (turns: readonly ModelTurn[]) => {
    const double = await openModel("gemini", turns);
    return { adapter: geminiLlm(double.settings), dispose: () => double.close() };
  };
  for (const { name, run } of llmContract(make)) it(name, run);
});
