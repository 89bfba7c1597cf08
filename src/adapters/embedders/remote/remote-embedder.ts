import { hash } from "node:crypto";
import type { Embedder, EmbedOptions } from "../../../catalog/embedder.port.ts";
import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { systemClock } from "../../../observe/clock.ts";
import { createModelApi, cutText, type ModelApiSurroundings } from "../../model-api.ts";
import { neededSetting } from "../../needed-setting.ts";
import { setNewest } from "../../../base/remember.ts";
import { succeeds } from "../../../base/turns/succeeds.ts";
import { type InputsOf, whole } from "../../../tool/shape/shape.ts";
import { createRequestQueue } from "./request-queue.ts";
import { createSelfCalibration } from "./self-calibration.ts";

/** Settings of every remote embedder. The section `embedder` adds model, api_key, api_base, batch_size and max_retries. */
export const REMOTE_SETTINGS = {
  dimension: whole(
    "Number of dimensions of the vectors. Needed only for models that ToolArsenal does not know.",
    1,
    65_536,
  ),
  maxConcurrent: whole("Maximum number of concurrent requests to the embedder's API. Defaults to 4.", 1, 256),
  timeoutMs: whole("Timeout of one request to the embedder's API, in milliseconds. Defaults to 30000.", 100, 600_000),
  maxInputBytes: whole(
    "Maximum size of one text, in bytes. The rest of a longer text is cut off. Defaults to 8000.",
    16,
    1_000_000,
  ),
};

/** The settings of a remote embedder. */
export interface RemoteEmbedderSettings extends InputsOf<typeof REMOTE_SETTINGS> {
  readonly model?: string;
  /** A reference to the key (`env:NAME`, `file:PATH`), or the key itself. */
  readonly apiKey?: string;
  readonly apiBase?: string;
  /** Texts per request. Defaults to 100, limited by the API's maximum. */
  readonly batchSize?: number;
  /** The most retries of a failed request. Defaults to 3. */
  readonly maxRetries?: number;
}

export interface RemoteProvider {
  /** The name in messages: `OpenAI`. */
  readonly title: string;
  /** The first part of the model's name: `openai`. */
  readonly name: string;
  readonly model: string;
  readonly dimensions: Readonly<Record<string, number>>;
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly keyHeaders?: (key: string) => Readonly<Record<string, string>>;
  /** The most texts and the most bytes of text in one request. */
  readonly maxTexts: number;
  readonly maxBytes: number;
  /** Prefixes of tool texts and of requests, for models that were trained with them. */
  readonly prefixes?: Prefixes;
  /** `shorter` is the requested dimension, if it differs from the model's own. */
  toBody(texts: string[], asked: { readonly kind: EmbedOptions["kind"]; readonly shorter: number | undefined }): object;
  /** Returns the list of vectors in a response, in the order of the texts. Any other value means that the response has no vectors. */
  toVectors(answer: unknown): unknown;
}

export interface Prefixes {
  readonly query: string;
  readonly tool: string;
}

/** The most bytes of a number in a response, including its comma. */
const NUMBER_BYTES = 32;
/** The number of cached request vectors. A request is often searched more than once. */
const REMEMBERED = 128;
/** How long a success counts as healthy. */
const HEALTHY_MS = 60_000;

/** Creates an embedder for a provider. Sends nothing before the first text. */
export function createRemoteEmbedder(
  settings: RemoteEmbedderSettings,
  surroundings: ModelApiSurroundings | undefined,
  provider: RemoteProvider,
): Embedder {
  const { title, name, model, url, apiKey, keyHeaders, prefixes } = provider;
  const own = Object.hasOwn(provider.dimensions, model) ? provider.dimensions[model] : undefined;
  const dimension = settings.dimension ?? own ?? lacking(model);
  const shorter = own === undefined || own === dimension ? undefined : dimension;
  const { batchSize = 100, maxRetries = 3, maxConcurrent = 4, timeoutMs = 30_000, maxInputBytes = 8000 } = settings;
  const { clock = systemClock } = surroundings ?? {};
  const api = createModelApi(
    { provider: title, section: "embedder", url, apiKey, keyHeaders, maxRetries, timeoutMs },
    surroundings,
  );
  const queue = createRequestQueue(maxConcurrent);
  const calibration = createSelfCalibration((texts, options) => send(texts, options));
  const remembered = new Map<string, Float32Array>();
  const closing = new AbortController();
  let workedAt = Number.NEGATIVE_INFINITY;

  async function request(texts: string[], options: EmbedOptions): Promise<readonly Float32Array[]> {
    const maxBytes = (texts.length * dimension + 1024) * NUMBER_BYTES;
    const answer = await api.post(provider.toBody(texts, { kind: options.kind, shorter }), { ...options, maxBytes });
    const vectors = provider.toVectors(answer);
    if (!Array.isArray(vectors) || vectors.length !== texts.length) {
      const given = Array.isArray(vectors) ? `${vectors.length} vectors` : "no vectors";
      throw new ArsenalError("PROTOCOL_ERROR", `${title} returned ${given} for ${texts.length} texts.`);
    }
    workedAt = clock.now();
    return vectors.map((vector) => toUnit(vector, provider, dimension));
  }

  /** Sends texts in batches, and returns their vectors in order. A failed batch cancels the others. */
  async function send(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]> {
    const prefix = prefixes?.[options.kind] ?? "";
    const prepared = texts.map((text) => (text.trim() === "" ? "" : prefix + cutText(text, maxInputBytes)));
    const vectors: Float32Array[] = texts.map(() => new Float32Array(dimension));
    const failed = new AbortController();
    const signal = AbortSignal.any([closing.signal, failed.signal, ...(options.signal ? [options.signal] : [])]);
    const limits = { count: Math.min(batchSize, provider.maxTexts), bytes: provider.maxBytes };
    const batches = toBatches(prepared, limits).map(async (batch) => {
      const asked = batch.map((at) => prepared[at] ?? "");
      const found = await queue.run(() => request(asked, { ...options, signal }), {
        signal,
        urgent: options.kind === "query",
      });
      for (const [index, at] of batch.entries()) vectors[at] = found[index] ?? new Float32Array(dimension);
    });
    try {
      await Promise.all(batches);
    } catch (error) {
      failed.abort();
      await Promise.allSettled(batches);
      options.signal?.throwIfAborted();
      throw error;
    }
    return vectors;
  }

  async function embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]> {
    options.signal?.throwIfAborted();
    if (texts.length === 0) return [];
    const isKnown = (text: string): boolean => text.trim() === "" || remembered.has(text);
    if (options.kind === "query" && texts.every(isKnown))
      return texts.map((text) => remembered.get(text)?.slice() ?? new Float32Array(dimension));
    const [vectors] = await Promise.all([send(texts, options), calibration.measure(options)]);
    if (options.kind === "query") for (const [at, text] of texts.entries()) remember(text, vectors[at]);
    return vectors;
  }

  function remember(text: string, vector: Float32Array | undefined): void {
    if (vector !== undefined && text.trim() !== "") setNewest(remembered, text, vector.slice(), REMEMBERED);
  }

  return {
    model: modelName(provider, dimension),
    dimension,
    embed,
    calibrate: (cosine) => calibration.calibrate(cosine),
    async healthCheck(options = {}) {
      const isFresh = clock.now() - workedAt < HEALTHY_MS;
      return isFresh || succeeds(() => send(["ready"], { kind: "query", ...options }));
    },
    async close() {
      closing.abort(new ArsenalError("CLOSED", `The embedder ${name} was closed. Create a new one.`));
      api.close();
    },
  };
}

function lacking(model: string): never {
  const fix = "Set it to the length of the model's vectors, as its documentation gives it.";
  throw neededSetting("embedder.dimension", model, fix);
}

/** Returns provider, model, dimension, and a hash of the tool prefix. Vectors are comparable only if all of these are equal. */
function modelName({ name, model, prefixes }: RemoteProvider, dimension: number): string {
  const mark = prefixes === undefined || prefixes.tool === "" ? "" : `/${hash("sha256", prefixes.tool).slice(0, 8)}`;
  return `${name}/${model}/${dimension}${mark}`;
}

/** Groups the indexes of non-empty strings into batches with limited texts and bytes. */
function toBatches(
  texts: readonly string[],
  most: { readonly count: number; readonly bytes: number },
): readonly (readonly number[])[] {
  const batches: number[][] = [];
  let bytes = 0;
  for (const [at, text] of texts.entries()) {
    if (text === "") continue;
    const size = Buffer.byteLength(text);
    const last = batches.at(-1);
    if (last !== undefined && last.length < most.count && bytes + size <= most.bytes) {
      last.push(at);
      bytes += size;
    } else {
      batches.push([at]);
      bytes = size;
    }
  }
  return batches;
}

function toUnit(vector: unknown, { title, model }: RemoteProvider, dimension: number): Float32Array {
  const numbers = Array.isArray(vector) ? vector : [];
  if (numbers.length !== dimension) {
    const isPooled = !Array.isArray(numbers[0]);
    const fix = isPooled
      ? `Set embedder.dimension to ${numbers.length}, or choose a model with ${dimension}.`
      : "Choose a sentence embedding model: this one returns a vector for each token.";
    const problem = `The vectors of ${model} have ${numbers.length} dimensions, not ${dimension}.`;
    throw fixable("CONFIG_INVALID", problem, fix, { field: "embedder.dimension", value: dimension });
  }
  const values = Float32Array.from(numbers as readonly number[]);
  let squares = 0;
  for (const value of values) squares += value * value;
  const length = Math.sqrt(squares);
  if (!(length > 0 && Number.isFinite(length)))
    throw new ArsenalError("PROTOCOL_ERROR", `${title} returned a vector that is not made of finite numbers.`);
  for (let at = 0; at < values.length; at++) values[at] = (values[at] ?? 0) / length;
  return values;
}

/** Creates an adapter's `check`. It resolves with a status text, or rejects with the problem. */
export function checkOf<Settings>(create: (settings: Settings, surroundings?: ModelApiSurroundings) => Embedder) {
  return async (settings: Settings, surroundings?: ModelApiSurroundings): Promise<string> => {
    const embedder = create(settings, surroundings);
    try {
      await embedder.embed(["ready"], { kind: "query" });
      return `${embedder.model} answers`;
    } finally {
      await embedder.close?.();
    }
  };
}
