import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import { aligned, ensureMemory, instantiateKernel, quantisationLimit } from "./kernel.ts";
import { placeEncoder, placeLayers, type PlacedLayer } from "./place-weights.ts";
import { type EncoderWeights, readWeights } from "./weights.ts";

export type Encoder = ReturnType<typeof createEncoder>;

/** The offsets of a batch's buffers. */
type Buffers = Readonly<
  Record<"ids" | "states" | "scales" | "quantised" | "wide" | "context" | "scratch" | "pooled", number>
>;

interface EncoderOptions {
  /** A weight file; it is copied, so the caller may release it. */
  readonly weights: Uint8Array;
  /** Reads the weight file of the fit model, when it is first needed. */
  readonly fitWeights?: () => Uint8Array;
  /** Rounds activations to about 13 bits per token (`row`), or to 8 bits per text as onnxruntime does (`text`, for comparing with it). Defaults to `row`. */
  readonly activations?: "row" | "text";
}

/** The tokens processed together: enough to reuse each weight often, few enough to stay in the second-level cache. */
const BATCH_TOKENS = 128;
/** Rows past the last that the kernel may read and write, because it works on four at a time. */
const SLACK = 8;

/** Loads a BERT encoder with mean pooling: token ids in, one unit vector per text out. One call at a time. Throws if the weight file is damaged. */
export function createEncoder({ weights: file, fitWeights, activations = "row" }: EncoderOptions) {
  const kernel = instantiateKernel();
  const read = readWeights(file);
  const { hidden, heads, intermediate, vocabulary, positions, epsilon } = read.architecture;
  const weights = placeEncoder(kernel, read);
  let free = weights.end;
  let fitModel: PlacedFitModel | undefined;
  const hiddenLimit = quantisationLimit(hidden);
  const intermediateLimit = quantisationLimit(intermediate);

  /** The offsets of the buffers of a batch of `tokens`, after the weights. */
  function plan(tokens: number, longest: number): Buffers {
    const rows = tokens + SLACK;
    const padded = Math.ceil(longest / 8) * 8;
    let end = free;
    const take = (bytes: number) => {
      const start = end;
      end = aligned(start + bytes);
      return start;
    };
    const buffers = {
      ids: take(rows * 4),
      states: take(rows * hidden * 4),
      scales: take(rows * 4),
      quantised: take(rows * Math.max(hidden, intermediate) * 2),
      // The attention's output and the feed-forward's middle can share memory with the other's inputs, because they are not needed at the same
      // time.
      wide: take(rows * Math.max(3 * hidden, intermediate) * 4),
      context: take(rows * hidden * 4),
      scratch: take((2 * (hidden / heads) + 4) * padded * 4),
      pooled: take(hidden * 4),
    };
    ensureMemory(kernel.memory, end);
    return buffers;
  }

  /** Runs layers over the states of a batch. The tokens of each range attend to each other. */
  function runLayers(layers: readonly PlacedLayer[], ranges: readonly TokenRange[], buffers: Buffers): void {
    const { states, scales, quantised, wide, context, scratch } = buffers;
    const total = tokensOf(ranges);
    const quantise = (rows: number, width: number, limit: number) => {
      if (activations === "row") kernel.quantiseRows(rows, total, width, limit, quantised, scales);
      else {
        for (const { start, length } of ranges) {
          const at = start * width;
          kernel.quantiseTogether(rows + at * 4, length, width, quantised + at * 2, scales + start * 4);
        }
      }
    };
    for (const { qkv, output, attentionNorm, up, down, feedforwardNorm } of layers) {
      quantise(states, hidden, hiddenLimit);
      kernel.multiply(quantised, scales, total, hidden, qkv.matrix, qkv.scale, qkv.bias, 3 * hidden, 0, 0, wide);
      for (const { start, length } of ranges) {
        const [from, to] = [wide + start * 3 * hidden * 4, context + start * hidden * 4];
        kernel.attend(from, length, heads, hidden / heads, scratch, to);
      }
      quantise(context, hidden, hiddenLimit);
      // The residual is added in place: each output element is read and then written by the same tile.
      const { matrix, scale, bias } = output;
      kernel.multiply(quantised, scales, total, hidden, matrix, scale, bias, hidden, 0, states, states);
      kernel.normaliseRows(states, total, hidden, attentionNorm.weight, attentionNorm.bias, epsilon);

      quantise(states, hidden, hiddenLimit);
      kernel.multiply(quantised, scales, total, hidden, up.matrix, up.scale, up.bias, intermediate, 1, 0, wide);
      quantise(wide, intermediate, intermediateLimit);
      kernel.multiply(
        ...([quantised, scales, total, intermediate, down.matrix, down.scale, down.bias, hidden] as const),
        ...([0, states, states] as const),
      );
      kernel.normaliseRows(states, total, hidden, feedforwardNorm.weight, feedforwardNorm.bias, epsilon);
    }
  }

  /** Writes the states of texts before the first layer. */
  function embedTokens(texts: readonly Int32Array[], ranges: readonly TokenRange[], { ids, states }: Buffers): void {
    const total = tokensOf(ranges);
    const idView = new Int32Array(kernel.memory.buffer, ids, total);
    const { tokens, tokenScales, positions: table, norm } = weights;
    for (const [index, { start, length }] of ranges.entries()) {
      idView.set(texts[index] ?? [], start);
      const [from, to] = [ids + start * 4, states + start * hidden * 4];
      kernel.embedTokens(from, length, hidden, tokens, tokenScales, table, to);
    }
    kernel.normaliseRows(states, total, hidden, norm.weight, norm.bias, epsilon);
  }

  /** The vectors of texts, then those of passages of the first text. */
  function encodeBatch(texts: readonly Int32Array[], passages: readonly TokenRange[] = []): Float32Array[] {
    const ranges = layOut(texts.map((text) => text.length));
    const buffers = plan(tokensOf(ranges), longestOf(ranges));
    embedTokens(texts, ranges, buffers);
    runLayers(weights.layers, ranges, buffers);
    return [...ranges, ...passages].map(({ start, length }) => {
      kernel.poolRows(buffers.states + start * hidden * 4, length, hidden, buffers.pooled);
      return new Float32Array(kernel.memory.buffer, buffers.pooled, hidden).slice();
    });
  }

  /** Reads the request with each tool, and returns for each how surely the tool serves the request, in log-odds. */
  function judge(request: Int32Array, tools: readonly Int32Array[]): Float32Array {
    const { join, kinds, head, bias, layers } = (fitModel ??= loadFitModel());
    const texts = [request, ...tools];
    for (const text of texts) checkText(text, vocabulary, positions);
    const alone = layOut(texts.map((text) => text.length));
    const pairs = layOut(tools.map((tool) => request.length + tool.length));
    const buffers = plan(Math.max(tokensOf(alone), tokensOf(pairs)), longestOf(pairs));
    embedTokens(texts, alone, buffers);
    runLayers(weights.layers.slice(0, join), alone, buffers);

    const view = (tokens: number) => new Float32Array(kernel.memory.buffer, buffers.states, tokens * hidden);
    const separate = view(tokensOf(alone)).slice();
    const states = view(tokensOf(pairs));
    const [requestRange = { start: 0, length: 0 }, ...toolRanges] = alone;
    for (const [index, tool] of toolRanges.entries()) {
      let at = (pairs[index]?.start ?? 0) * hidden;
      for (const [kind, { start, length }] of [requestRange, tool].entries()) {
        for (let from = start * hidden; from < (start + length) * hidden; from++)
          states[at++] = (separate[from] ?? 0) + (kinds[kind * hidden + (from % hidden)] ?? 0);
      }
    }
    runLayers(layers, pairs, buffers);
    return Float32Array.from(pairs, ({ start, length }) => {
      let sum = 0;
      for (let at = start * hidden; at < (start + length) * hidden; at++)
        sum += (states[at] ?? 0) * (head[at % hidden] ?? 0);
      return sum / length + bias;
    });
  }

  function loadFitModel(): PlacedFitModel {
    const fit = readWeights(fitWeights?.() ?? new Uint8Array());
    const { join } = fit.architecture;
    if (fit.model !== read.model || join === undefined) {
      const problem = `The fit model belongs to the encoder ${showValue(fit.model)}, not to ${showValue(read.model)}.`;
      throw fixable("INPUT_INVALID", problem, "Reinstall the package.", { field: "fitWeights", value: fit.model });
    }
    const { layers, end } = placeLayers(kernel, fit, free, () => ({}));
    free = end;
    const [kinds, head, bias] = ["kinds", "head.weight", "head.bias"].map((name) => floatsOf(fit, name));
    return { join, layers, kinds: kinds ?? [], head: head ?? [], bias: bias?.[0] ?? 0 };
  }

  /** Texts are independent of each other. A passage is pooled from the states of the first text, so it costs no pass of its own. */
  function encode(
    tokenIds: readonly Int32Array[],
    { passagesFrom = tokenIds.length }: { readonly passagesFrom?: number } = {},
  ): Float32Array[] {
    for (const text of tokenIds) checkText(text, vocabulary, positions);
    const [first] = tokenIds;
    const places = tokenIds.map((ids, index) => (first && index >= passagesFrom ? findPassage(ids, first) : undefined));
    const passages = places.filter((place) => place !== undefined);
    const [firstBatch = [], ...batches] = inBatches(tokenIds.filter((_, index) => places[index] === undefined));
    const own = encodeBatch(firstBatch, passages);
    const pooled = own.splice(firstBatch.length).values();
    const others = [...own, ...batches.flatMap((batch) => encodeBatch(batch))].values();
    return places.flatMap((place) => (place === undefined ? others : pooled).next().value ?? []);
  }

  return {
    model: read.model,
    dimension: hidden,
    /** The longest text, in tokens, including [CLS] and [SEP]. */
    maxTokens: positions,
    /** One vector per text, in order. The texts from `passagesFrom` on are passages of the first. */
    encode,
    judge,
  };
}

/** A fit model in the kernel's memory. */
interface PlacedFitModel {
  readonly join: number;
  readonly layers: readonly PlacedLayer[];
  readonly kinds: ArrayLike<number>;
  readonly head: ArrayLike<number>;
  readonly bias: number;
}

/** A copy of a tensor of floats. */
function floatsOf({ tensors }: EncoderWeights, name: string): Float32Array {
  const bytes = Uint8Array.from(tensors.get(name)?.bytes ?? []);
  return new Float32Array(bytes.buffer);
}

/** Consecutive tokens of a text. */
interface TokenRange {
  readonly start: number;
  readonly length: number;
}

/** Finds the tokens of a passage, without its [CLS] and [SEP], in a text; undefined if they are not there in this order. */
function findPassage(passage: Int32Array, text: Int32Array): TokenRange | undefined {
  const length = passage.length - 2;
  if (length < 1) return undefined;
  for (let start = 1; start + length < text.length; start++) {
    let same = 0;
    while (same < length && text[start + same] === passage[same + 1]) same++;
    if (same === length) return { start, length };
  }
  return undefined;
}

/** Consecutive ranges of these lengths, without padding. */
function layOut(lengths: readonly number[]): readonly TokenRange[] {
  let start = 0;
  return lengths.map((length) => {
    const range = { start, length };
    start += length;
    return range;
  });
}

function tokensOf(ranges: readonly TokenRange[]): number {
  return ranges.reduce((sum, { length }) => sum + length, 0);
}

function longestOf(ranges: readonly TokenRange[]): number {
  return ranges.reduce((most, { length }) => Math.max(most, length), 0);
}

/** Consecutive texts of at most `BATCH_TOKENS` tokens in total; a longer text is its own batch. */
function inBatches(texts: readonly Int32Array[]): Int32Array[][] {
  const batches: Int32Array[][] = [];
  let room = 0;
  for (const text of texts) {
    const batch = batches.at(-1);
    if (batch !== undefined && text.length <= room) {
      batch.push(text);
      room -= text.length;
    } else {
      batches.push([text]);
      room = BATCH_TOKENS - text.length;
    }
  }
  return batches;
}

function checkText(text: Int32Array, vocabulary: number, positions: number): void {
  if (text.length === 0 || text.length > positions) {
    const problem = `A text has ${text.length} tokens; the encoder takes 1 to ${positions}.`;
    throw unfit(problem, "Truncate it when tokenizing.", text.length);
  }
  for (const id of text) {
    if (id < 0 || id >= vocabulary) {
      const problem = `Token id ${id} is outside the vocabulary of ${vocabulary}.`;
      throw unfit(problem, "Use the vocabulary that belongs to these weights.", id);
    }
  }
}

function unfit(problem: string, fix: string, value: number): ArsenalError {
  return fixable("INPUT_INVALID", problem, fix, { field: "tokenIds", value });
}
