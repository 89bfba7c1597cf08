import type { Llm, LlmRequest, LlmTurn, TokenUsage } from "../../agent/llm.port.ts";
import { ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { asRecords, isPlainObject } from "../../tool/json-schema.ts";
import { convertSet } from "../../transcode/convert-set.ts";
import type { StreamingDialect } from "../../transcode/dialect.port.ts";
import { createModelApi, type Diagnosis, endpoint, type ModelApi, type ModelApiSurroundings } from "../model-api.ts";
import { neededSetting } from "../needed-setting.ts";
import { type SentTurn, toTurns } from "./sent-turns.ts";

/** The settings of every remote model. */
export interface RemoteLlmSettings {
  readonly model?: string;
  /** A reference to the key (`env:NAME`, `file:PATH`), or the key itself. */
  readonly apiKey?: string;
  readonly apiBase?: string;
  /** The most tokens of one response. */
  readonly maxTokens?: number;
  /** Sent only if it is set, because some models accept only their default. */
  readonly temperature?: number;
  /** Whether tools use the provider's strict mode if they support it. Defaults to false. */
  readonly strict?: boolean;
  /** The longest silence of the model: until the whole response, or until the next piece of a streamed one. Defaults to 2 minutes. */
  readonly timeoutMs?: number;
  /** The most retries of a failed request. Defaults to 2. */
  readonly maxRetries?: number;
  /** Additional members of the request body, in the API's format: `{ reasoning: { effort: "low" } }`. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

export interface LlmApi<Definition extends object = object> {
  /** The name of the adapter, which saved turns record. */
  readonly name: string;
  /** The name in messages: `Anthropic`. */
  readonly title: string;
  /** The provider's own address, and the default reference to its key. */
  readonly base: string;
  readonly key: string;
  /** The path of the endpoint, below the address. */
  readonly path: string;
  /** Defaults to `path`. */
  readonly streamPath?: string;
  readonly streamQuery?: Readonly<Record<string, string>>;
  readonly keyHeaders?: (key: string) => Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly dialect: StreamingDialect<Definition>;
  toBody(asked: ModelRequest<Definition>): object;
  /** Reads a whole response. Returns undefined if it has another format. `title` is for messages. */
  read(answer: unknown, title: string): ReadAnswer | undefined;
  /** Assembles a streamed response into the form of an unstreamed one. */
  collect(): AnswerCollector;
}

export interface ModelRequest<Definition> {
  readonly model: string;
  readonly system: string | undefined;
  readonly turns: readonly SentTurn[];
  readonly tools: readonly Definition[];
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly streamed: boolean;
}

export interface ReadAnswer {
  readonly text: string;
  /** The part of the response that is sent back with the next request. */
  readonly content: unknown;
  /** Also `answer` if there are calls. */
  readonly stop: "answer" | "length" | "refused";
  readonly usage: TokenUsage;
}

interface AnswerCollector {
  /** Takes an event and returns its text. */
  push(event: unknown): string;
  readonly isComplete: boolean;
  answer(): unknown;
}

/** A response may contain images and long reasoning. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Creates a model for a provider's API. Sends nothing before the first request. */
export function createRemoteLlm<Definition extends object>(
  api: LlmApi<Definition>,
  settings: RemoteLlmSettings,
  surroundings?: ModelApiSurroundings,
): Llm {
  const { dialect, base, path, streamPath = path, streamQuery, keyHeaders, headers } = api;
  const { model, apiBase, strict = false, maxRetries = 2, timeoutMs = 120_000, extraBody = {} } = settings;
  const { apiKey = apiBase === undefined ? api.key : undefined } = settings;
  if (model === undefined) throw neededSetting("llm.model", api.name, needs.model);
  const host = apiBase === undefined ? undefined : URL.parse(apiBase)?.host;
  const title = apiBase === undefined ? api.title : `The model at ${host ?? "llm.api_base"}`;
  // Another server cannot read this server's signed or encrypted content.
  const provider = apiBase === undefined ? api.name : `${api.name}@${host ?? apiBase}`;
  let connection: ModelApi | undefined;

  function connect(): ModelApi {
    const url = endpoint(apiBase ?? base, path);
    const streamUrl = endpoint(apiBase ?? base, streamPath, streamQuery);
    const connecting = { url, streamUrl, apiKey, keyHeaders, headers, maxRetries, timeoutMs, diagnose };
    return createModelApi({ provider: title, section: "llm", ...connecting }, surroundings);
  }

  function toBody(request: LlmRequest): object {
    const { system, messages, tools, maxTokens = settings.maxTokens, onText } = request;
    const { limits = {} } = dialect;
    const { maxTools = Infinity } = limits;
    if (tools.length > maxTools) {
      const problem = `${title} accepts at most ${maxTools} tools in a request, but ${tools.length} were given.`;
      throw fixable("INPUT_INVALID", problem, "Offer fewer tools at once.", { field: "tools", value: tools.length });
    }
    const asked = {
      model: model ?? "",
      system,
      maxTokens,
      temperature: settings.temperature,
      streamed: onText !== undefined,
      turns: toTurns(messages, provider, dialect),
      tools: convertSet(tools, dialect, { strict, limits }).map(({ definition }) => definition),
    };
    return merged(api.toBody(asked), extraBody);
  }

  async function stream(body: object, onText: (text: string) => void, signal?: AbortSignal): Promise<unknown> {
    let shown = "";
    let collector = api.collect();
    let thrown: { readonly error: unknown } | undefined;
    const fold = () => {
      collector = api.collect();
      return {
        push(event: unknown) {
          const text = collector.push(event);
          if (text === "") return;
          shown += text;
          try {
            onText(text);
          } catch (error) {
            thrown = { error };
            throw error;
          }
        },
        get isShown() {
          return shown !== "";
        },
        get isComplete() {
          return thrown === undefined && collector.isComplete;
        },
      };
    };
    try {
      connection ??= connect();
      await connection.stream(body, { fold, maxBytes: MAX_BYTES, signal });
    } catch (error) {
      if (thrown !== undefined) throw thrown.error;
      if (shown === "" || !isArsenalError(error)) throw error;
      throw new ArsenalError(error.code, error.message, { ...error.details, value: shown, cause: error });
    }
    return collector.answer();
  }

  return {
    name: `${api.name}/${model}`,
    async next(request) {
      const { onText, signal } = request;
      signal?.throwIfAborted();
      const body = toBody(request);
      connection ??= connect();
      try {
        const answer =
          onText === undefined
            ? await connection.post(body, { maxBytes: MAX_BYTES, signal })
            : await stream(body, onText, signal);
        const read = api.read(answer, title);
        if (read !== undefined) return toTurn(read);
        const problem = `${title} sent a response in an unknown format.`;
        throw fixable("PROTOCOL_ERROR", problem, "Check llm.type and llm.api_base.");
      } catch (error) {
        if (isArsenalError(error) && error.details.value === FILTERED) return BLOCKED;
        throw error;
      }
    },
    close: () => connection?.close(),
  };

  function toTurn({ text, content, stop, usage }: ReadAnswer): LlmTurn {
    const calls = stop === "refused" ? [] : dialect.readCalls(content);
    return {
      message: { role: "assistant", text, calls, native: { provider, content } },
      stop: stop === "answer" && calls.length > 0 ? "calls" : stop,
      usage,
    };
  }
}

/** Merges additional members into a body, including nested objects, because Gemini keeps most settings in one. */
function merged(body: object, extra: Readonly<Record<string, unknown>>): object {
  const own = body as Readonly<Record<string, unknown>>;
  const entries = Object.entries(extra).map(([name, value]) => {
    const before = own[name];
    return [name, isPlainObject(before) && isPlainObject(value) ? { ...before, ...value } : value];
  });
  return { ...own, ...Object.fromEntries(entries) };
}

const FILTERED = "content_filter";
const BLOCKED: LlmTurn = {
  message: { role: "assistant", text: "", calls: [] },
  stop: "refused",
  usage: { inputTokens: 0, outputTokens: 0 },
};

const TOO_LONG =
  /context_length_exceeded|maximum context length|context window|context size|prompt is too long|token count.{0,40}exceeds|request_too_large/i;

/** Uses the provider's text to distinguish the meanings of an ambiguous status. */
function diagnose(status: number, text: string): Diagnosis | undefined {
  if ((status === 400 || status === 413 || status === 422) && TOO_LONG.test(text))
    return { code: "CONTEXT_TOO_LONG", fix: "Start a new conversation, shorten this one, or offer fewer tools." };
  if (status === 400 && /"code":\s*"(?:content_filter|invalid_prompt)"/.test(text))
    return { code: "EXECUTION_FAILED", fix: "Change the prompt.", value: FILTERED };
  if (status === 400 && /API_KEY_INVALID|API key not valid/.test(text))
    return { code: "CONFIG_INVALID", field: "llm.api_key", fix: "Check the key that llm.api_key refers to." };
  if (status === 429 && /insufficient_quota|billing/i.test(text))
    return { code: "RATE_LIMITED", fix: "Check the plan and the billing of the account." };
  return undefined;
}

export const needs = { model: "Set it to the name of a model that can call tools." };

/** Returns the text of a message's content, which is a text or blocks. */
export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return asRecords(content)
    .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : ""))
    .join("");
}

/** Returns the sum of token counts. Missing counts are 0. */
export function tokens(...counts: readonly unknown[]): number {
  return counts.reduce<number>((sum, count) => sum + (typeof count === "number" && count > 0 ? count : 0), 0);
}

/** Creates an adapter's `check`. It resolves with a status text, or rejects with the problem. */
export function checkOf(create: (settings: RemoteLlmSettings, surroundings?: ModelApiSurroundings) => Llm) {
  return async (settings: RemoteLlmSettings, surroundings?: ModelApiSurroundings): Promise<string> => {
    const llm = create(settings, surroundings);
    try {
      await llm.next({ messages: [{ role: "user", text: "Answer with OK." }], tools: [] });
      return `${llm.name} answers`;
    } finally {
      llm.close();
    }
  };
}
