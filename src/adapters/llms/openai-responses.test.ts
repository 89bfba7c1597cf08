import { describe, it } from "vitest";
import { openModel } from "../../../test/doubles/llms/model-double.ts";
import { llmContract, type ModelTurn } from "../../testing/index.ts";
import { openaiResponsesLlm } from "./openai-responses.ts";

describe("OpenAI's Responses API", () => {
  const make = async (turns: readonly ModelTurn[]) => {
    const double = await openModel("openai_responses", turns);
    return { adapter: openaiResponsesLlm(double.settings), dispose: () => double.close() };
  };
  for (const { name, run } of llmContract(make)) it(name, run);
});
