import { describe, it } from "vitest";
import { openModel } from "../../../test/doubles/llms/model-double.ts";
import { llmContract, type ModelTurn } from "../../testing/index.ts";
import { anthropicLlm } from "./anthropic.ts";

describe("Anthropic's Messages API", () => {
  const make = async (turns: readonly ModelTurn[]) => {
    const double = await openModel("anthropic", turns);
    return { adapter: anthropicLlm(double.settings), dispose: () => double.close() };
  };
  for (const { name, run } of llmContract(make)) it(name, run);
});
