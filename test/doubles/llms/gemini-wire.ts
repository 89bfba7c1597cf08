import type * as Google from "@google/genai";
import { strictly } from "../http-double.ts";
import type { ModelWire, ScriptedTurn, Writing } from "./model-double.ts";
import { closed, type Json, list, NAME, pieces, sign, sse, text } from "./wire-parts.ts";

const wrongBody = strictly(
  {
    systemInstruction: closed(
      {
        role: { type: "string" },
        parts: { type: "array", minItems: 1, items: closed({ text: { type: "string", minLength: 1 } }, ["text"]) },
      },
      ["parts"],
    ),
    contents: {
      type: "array",
      minItems: 1,
      items: closed(
        {
          role: { enum: ["user", "model"] },
          parts: {
            type: "array",
            minItems: 1,
            items: closed(
              {
                text: { type: "string" },
                thought: { type: "boolean" },
                thoughtSignature: { type: "string" },
                functionCall: closed({ id: { type: "string" }, name: NAME, args: { type: "object" } }, ["name"]),
                functionResponse: closed(
                  {
                    id: { type: "string" },
                    name: NAME,
                    response: { type: "object" },
                    parts: { type: "array" },
                  },
                  ["name", "response"],
                ),
              },
              [],
            ),
          },
        },
        ["role", "parts"],
      ),
    },
    tools: {
      type: "array",
      items: closed(
        {
          functionDeclarations: {
            type: "array",
            minItems: 1,
            maxItems: 128,
            items: closed({ name: NAME, description: { type: "string" }, parametersJsonSchema: { type: "object" } }, [
              "name",
              "description",
            ]),
          },
        },
        ["functionDeclarations"],
      ),
    },
    generationConfig: closed(
      {
        maxOutputTokens: { type: "integer", minimum: 1 },
        temperature: { type: "number", minimum: 0, maximum: 2 },
        thinkingConfig: { type: "object" },
      },
      [],
    ),
  },
  ["contents"],
);

/** What a call of another provider's model is signed with. */
const UNSIGNED = "skip_thought_signature_validator";

/** Gemini's `:generateContent` and `:streamGenerateContent`. Calls have no ids, as models before Gemini 3 answer, and signatures, as those after. */
export function geminiWire(): ModelWire {
  return {
    key: "AIza-double-0123456789abcdef",
    keyStatus: 400,
    base: "/v1beta",
    keyOf: (headers) => (typeof headers["x-goog-api-key"] === "string" ? headers["x-goog-api-key"] : undefined),
    pathOf(path) {
      if (path === "/v1beta/models/scripted-1:generateContent") return { streamed: false };
      return path === "/v1beta/models/scripted-1:streamGenerateContent?alt=sse" ? { streamed: true } : undefined;
    },
    wrong: (body) => wrongBody(body) ?? wrongOrder(list(body["contents"])),
    read({ systemInstruction, contents, tools }) {
      const all = list(contents);
      const since = all.slice(all.findLastIndex(({ role }) => role === "model") + 1);
      const allParts = (each: readonly Json[]): readonly Json[] => each.flatMap(({ parts }) => list(parts));
      const said = allParts(all.filter(({ role }) => role === "user")).filter((part) => "text" in part);
      const [system] = allParts(systemInstruction === undefined ? [] : [systemInstruction as Json]);
      return {
        system: text(system?.["text"] ?? ""),
        tools: list(tools)
          .flatMap(({ functionDeclarations }) => list(functionDeclarations))
          .map(({ name, description, parametersJsonSchema }) => ({
            name: text(name),
            description: text(description),
            parameters: parametersJsonSchema,
          })),
        prompt: text(said.at(-1)?.["text"] ?? ""),
        results: allParts(since)
          .map(({ functionResponse }) => functionResponse as Json | undefined)
          .filter((each) => each !== undefined)
          .map(({ name, response }) => {
            const { output, error } = response as Json;
            return { name: text(name), text: text(output ?? error) };
          }),
      };
    },
    countedOf: ({ systemInstruction, contents, tools }) => [systemInstruction, contents, tools],
    whole: (turn, writing) => toAnswer(turn, writing, partsOf(turn, writing), true),
    events,
    // A wrong key is a wrong argument there.
    refusal: (status, message) =>
      status === 401
        ? {
            error: {
              code: 400,
              message: "API key not valid. Please pass a valid API key.",
              status: "INVALID_ARGUMENT",
              details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }],
            },
          }
        : { error: { code: status, message, status: status === 404 ? "NOT_FOUND" : "INVALID_ARGUMENT" } },
  };
}

function wrongOrder(contents: readonly Json[]): string | undefined {
  for (const [at, { role, parts }] of contents.entries()) {
    const calls = list(parts).filter(({ functionCall }) => functionCall !== undefined);
    const [first] = calls;
    const results = list(contents[at + 1]?.["parts"]).filter(({ functionResponse }) => functionResponse !== undefined);
    const names = (each: readonly Json[], member: string): string =>
      each.map((part) => text((part[member] as Json)["name"])).join();
    if (first !== undefined) {
      const name = text((first["functionCall"] as Json)["name"]);
      const signature = first["thoughtSignature"];
      if (signature === undefined)
        return `Function call \`${name}\` in the ${at + 1}. content block is missing a \`thought_signature\`.`;
      if (signature !== sign(name) && signature !== UNSIGNED) return "Thought signature is not valid";
      if (role !== "model" || names(calls, "functionCall") !== names(results, "functionResponse"))
        return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    } else if (results.length > 0)
      return "Please ensure that function response turn comes immediately after a function call turn.";
  }
  return undefined;
}

type Wire = Partial<Google.GenerateContentResponse>;

function partsOf({ text: said, calls = [], thinking }: ScriptedTurn, _writing: Writing): Google.Part[] {
  return [
    ...(thinking === undefined ? [] : [{ text: thinking, thought: true }]),
    ...(said === undefined ? [] : [{ text: said }]),
    ...calls.map(({ name, arguments: args }, at) => ({
      functionCall: { name, args: { ...args } },
      ...(at === 0 ? { thoughtSignature: sign(name) } : {}),
    })),
  ];
}

function toAnswer(turn: ScriptedTurn, writing: Writing, parts: Google.Part[], isLast: boolean): Wire {
  const reason = turn.stop === "length" ? "MAX_TOKENS" : turn.stop === "refused" ? "SAFETY" : "STOP";
  return {
    candidates: [
      {
        content: { role: "model", parts },
        index: 0,
        ...(isLast ? { finishReason: reason as Google.FinishReason } : {}),
      },
    ],
    usageMetadata: {
      promptTokenCount: writing.inputTokens,
      candidatesTokenCount: writing.outputTokens,
      totalTokenCount: writing.inputTokens + writing.outputTokens,
    },
    modelVersion: writing.model,
    responseId: `response-${writing.serial}`,
  };
}

function events(turn: ScriptedTurn, writing: Writing): readonly string[] {
  const parts = partsOf(turn, writing).flatMap((part): Google.Part[] => {
    const { text: said, ...rest } = part;
    return said === undefined ? [part] : pieces(said).map((piece) => ({ ...rest, text: piece }));
  });
  return [
    ...parts.map((part) => sse(toAnswer(turn, writing, [part], false))),
    sse(toAnswer(turn, writing, [{ text: "" }], true)),
  ];
}
