import { asRecord, asRecords } from "../../tool/json-schema.ts";
import type { Llm } from "../../agent/llm.port.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { geminiDialect, type GeminiResults, type GeminiTool } from "../dialects/gemini/gemini.ts";
import { present } from "../../base/present.ts";
import type { ModelApiSurroundings } from "../model-api.ts";
import {
  checkOf,
  createRemoteLlm,
  type LlmApi,
  needs,
  type ReadAnswer,
  type RemoteLlmSettings,
  tokens,
} from "./remote-llm.ts";
import type { SentTurn } from "./sent-turns.ts";

/** The body of a request to `:generateContent`. @internal */
export interface GeminiBody {
  readonly systemInstruction?: { parts: { text: string }[] };
  readonly contents: GeminiContent[];
  readonly tools?: { functionDeclarations: GeminiTool[] }[];
  readonly generationConfig?: { maxOutputTokens?: number; temperature?: number };
}

type GeminiContent = { role: "user" | "model"; parts: GeminiPart[] } | GeminiResults;

type GeminiPart = {
  text?: string;
  functionCall?: { id: string; name: string; args: Record<string, unknown> };
  thoughtSignature?: string;
};

/** The API's placeholder for a call by another provider's model, which has no signature. */
const UNSIGNED = "skip_thought_signature_validator";

const DIALECT = geminiDialect();

/** A model behind Google's Gemini API. */
export function geminiLlm(settings: RemoteLlmSettings = {}, surroundings?: ModelApiSurroundings): Llm {
  const { model = "" } = settings;
  // A name with a slash is a full path: a tuned model, or a model on Vertex AI.
  const path = `/${model.includes("/") ? model : `models/${model}`}`;
  const paths = { path: `${path}:generateContent`, streamPath: `${path}:streamGenerateContent` };
  return createRemoteLlm({ ...API, ...paths }, settings, surroundings);
}

const API: Omit<LlmApi<GeminiTool>, "path"> = {
  name: "gemini",
  title: "Gemini",
  base: "https://generativelanguage.googleapis.com/v1beta",
  key: "env:GEMINI_API_KEY",
  streamQuery: { alt: "sse" },
  keyHeaders: (key) => ({ "x-goog-api-key": key }),
  dialect: DIALECT,
  toBody({ system, turns, tools, maxTokens, temperature }): GeminiBody {
    const generationConfig = present({ maxOutputTokens: maxTokens, temperature });
    return {
      ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
      contents: turns.flatMap(write),
      ...(tools.length > 0 && { tools: [{ functionDeclarations: [...tools] }] }),
      ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    };
  },
  read(answer, title) {
    const { candidates, promptFeedback, usageMetadata } = asRecord(answer);
    const [candidate] = asRecords(candidates);
    const blocked = asRecord(promptFeedback)["blockReason"];
    if (candidate === undefined && blocked === undefined) return undefined;
    const { content, finishReason, finishMessage } = candidate ?? {};
    const { role = "model", ...rest } = asRecord(content);
    const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, toolUsePromptTokenCount } =
      asRecord(usageMetadata);
    return {
      text: asRecords(rest["parts"])
        .map(({ text, thought }) => (typeof text === "string" && thought !== true ? text : ""))
        .join(""),
      content: { role, ...rest },
      stop: stopOf(blocked ?? finishReason, finishMessage, title),
      usage: {
        inputTokens: tokens(promptTokenCount, toolUsePromptTokenCount),
        outputTokens: tokens(candidatesTokenCount, thoughtsTokenCount),
      },
    };
  },
  collect() {
    let whole: Record<string, unknown> = {};
    let candidate: Record<string, unknown> = {};
    let role: unknown = "model";
    const parts: Record<string, unknown>[] = [];

    return {
      push(event) {
        const { candidates, ...rest } = asRecord(event);
        whole = { ...whole, ...rest };
        const [next] = asRecords(candidates);
        if (next === undefined) return "";
        const { content, ...more } = next;
        candidate = { ...candidate, ...more };
        role = asRecord(content)["role"] ?? role;
        let said = "";
        for (const part of asRecords(asRecord(content)["parts"])) {
          if (typeof part["text"] === "string" && part["thought"] !== true) said += part["text"];
          const last = parts.at(-1);
          if (last !== undefined && isPlainText(last) && isPlainText(part) && last["thought"] === part["thought"])
            last["text"] = `${String(last["text"])}${String(part["text"])}`;
          else parts.push({ ...part });
        }
        return said;
      },
      get isComplete() {
        return (
          typeof candidate["finishReason"] === "string" ||
          asRecord(whole["promptFeedback"])["blockReason"] !== undefined
        );
      },
      answer: () => ({
        ...whole,
        ...(Object.keys(candidate).length > 0 && { candidates: [{ ...candidate, content: { role, parts } }] }),
      }),
    };
  },
};

function write(turn: SentTurn): GeminiContent[] {
  switch (turn.kind) {
    case "user":
      return [{ role: "user", parts: [{ text: turn.text }] }];
    case "native": {
      const content = turn.content as GeminiContent;
      // The API sends empty turns, but refuses to receive them.
      return asRecords(content.parts).length === 0 ? [] : [content];
    }
    case "assistant": {
      const calls = turn.calls.map(({ id, name, arguments: args }, place) => ({
        functionCall: { id, name, args: { ...args } },
        ...(place === 0 ? { thoughtSignature: UNSIGNED } : {}),
      }));
      return [{ role: "model", parts: [...(turn.text === "" ? [] : [{ text: turn.text }]), ...calls] }];
    }
    case "results":
      return DIALECT.writeResults(turn.results);
  }
}

/** Stop reasons that are the model's fault. The conversation cannot continue from such a turn. */
const BROKEN = /MALFORMED|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MISSING_THOUGHT_SIGNATURE/;

function stopOf(reason: unknown, message: unknown, title: string): ReadAnswer["stop"] {
  if (reason === undefined || reason === "STOP" || reason === "FINISH_REASON_UNSPECIFIED") return "answer";
  if (reason === "MAX_TOKENS") return "length";
  if (!BROKEN.test(String(reason))) return "refused";
  const said = typeof message === "string" ? ` (${message.slice(0, 300)})` : "";
  const problem = `${title} wrote an invalid call: ${String(reason)}${said}.`;
  throw fixable("EXECUTION_FAILED", problem, "Ask again, or offer fewer tools.", { answered: true });
}

/** True for a part with only text. A part with a signature must stay unchanged. */
function isPlainText(part: Readonly<Record<string, unknown>>): boolean {
  return typeof part["text"] === "string" && Object.keys(part).every((name) => name === "text" || name === "thought");
}

export { geminiLlm as create, needs };

export const check = checkOf(geminiLlm);
