import type * as Google from "@google/genai";
import { PARALLEL, type Recording } from "./recording.ts";

/** The wire has an answer without the library's getters. */
type Wire = Partial<Google.GenerateContentResponse>;

function answer(parts: Google.Part[]): Wire {
  return {
    candidates: [{ content: { role: "model", parts }, index: 0 }],
    modelVersion: "gemini-2.5-pro",
    responseId: "c2lHaabcD4",
  };
}

const PARIS: Google.Part = { functionCall: { name: "weather-get_forecast", args: { city: "Paris", days: 2 } } };
const KRAKOW: Google.Part = { functionCall: { name: "weather-get_forecast", args: { city: "Kraków" } } };

/** Answers of the Gemini API. */
export const GEMINI: readonly Recording[] = [
  {
    dialect: "gemini",
    title: "two calls without ids, the first with a signature",
    answer: answer([{ ...PARIS, thoughtSignature: "CpQBAdHtim8=" }, KRAKOW]),
    calls: PARALLEL,
  },
  {
    dialect: "gemini",
    title: "a call with an id and no arguments",
    answer: answer([{ text: "Let me see." }, { functionCall: { id: "fn-1", name: "weather-list_stations" } }]),
    calls: [["weather-list_stations", {}]],
  },
  {
    dialect: "gemini",
    title: "arguments that are no object",
    answer: answer([
      { functionCall: { name: "weather-get_forecast", args: "Paris" as unknown as Record<string, unknown> } },
    ]),
    calls: [["weather-get_forecast", undefined]],
  },
  {
    dialect: "gemini",
    title: "two calls, streamed",
    events: [answer([{ text: "Checking", thought: true }]), answer([PARIS]), answer([KRAKOW]), answer([{ text: "" }])],
    calls: PARALLEL,
  },
  {
    dialect: "gemini",
    title: "a call whose arguments are streamed",
    events: [
      answer([{ functionCall: { id: "fn-2", name: "weather-get_forecast", willContinue: true } }]),
      answer([{ functionCall: { partialArgs: [{ jsonPath: "$.city", stringValue: "Pa" }], willContinue: true } }]),
      answer([{ functionCall: { partialArgs: [{ jsonPath: "$.city", stringValue: "ris" }], willContinue: true } }]),
      answer([{ functionCall: { partialArgs: [{ jsonPath: "$.days", numberValue: 2 }], willContinue: true } }]),
      answer([{ functionCall: {} }]),
    ],
    calls: PARALLEL.slice(0, 1),
  },
];
