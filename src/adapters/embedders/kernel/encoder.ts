import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { aligned, ensureMemory, instantiateKernel, type KernelKind } from "./kernel.ts";
import { hasByteProducts, type Inputs, type Linear, placeWeights, WIDE_CHANNELS } from "./place-weights.ts";
import { readWeights } from "./weights.ts";

export type Encoder = ReturnType<typeof createEncoder>;

interface EncoderOptions {
  /** A weight file. It is copied, so the caller may release it. */
  readonly weights: Uint8Array;
  /**
   * `row` rounds activations to 7 bits per token, except for a few wide channels. `text` rounds to 8 bits per text like onnxruntime, for comparison
   * with it. Defaults to `row`.
   */
  readonly activations?: "row" | "text";
  /** The kernel to use. Both give the same vectors. Defaults to the best that this engine can run. */
  readonly kernel?: KernelKind;
}

/** The tokens that are processed together: enough to reuse each weight often, and few enough to stay in the L2 cache. */
const BATCH_TOKENS = 128;
/** The tokens of the text that shows which channels are wide. */
const PROBE_TOKENS = 96;
/** The kernel works on four rows at a time, so it may read and write this many rows past the last one. */
const SLACK = 8;

/** Loads a BERT encoder with mean pooling: token ids in, one unit vector per text out. Not reentrant. Throws if the weight file is damaged. */
export function createEncoder({ weights: file, activations = "row", kernel: kind }: EncoderOptions) {
  const kernel = instantiateKernel(activations === "row" ? kind : "plain");
  const bytewise = hasByteProducts(kernel) ? kernel : undefined;
  const { model, architecture, tensors } = readWeights(file);
  const { hidden, heads, intermediate, vocabulary, positions, epsilon } = architecture;
  const weights = placeWeights(kernel, architecture, tensors);
  /** The inputs of the products that read the states, by layer: before attention and before the feed-forward. */
  let stateInputs: readonly (readonly [Inputs, Inputs])[] = weights.layers.map(() => [weights.even, weights.even]);

  /** Returns the offsets of the buffers for a batch of `tokens`, after the weights. */
  function plan(tokens: number, longest: number) {
    const rows = tokens + SLACK;
    const padded = Math.ceil(longest / 8) * 8;
    let end = weights.end;
    const take = (bytes: number) => {
      const start = end;
      end = aligned(start + bytes);
      return start;
    };
    const buffers = {
      ids: take(rows * 4),
      states: take(rows * hidden * 4),
      scales: take(rows * 4),
      zeros: take(rows * 4),
      quantised: take(rows * Math.max(hidden, intermediate) * 2),
      bytes: take(bytewise === undefined ? 0 : rows * Math.max(hidden, intermediate)),
      wideRows: take(bytewise === undefined ? 0 : rows * WIDE_CHANNELS * 2),
      // Holds query, key and value during attention, and the intermediate layer during the feed-forward.
      wide: take(rows * Math.max(3 * hidden, intermediate) * 4),
      context: take(rows * hidden * 4),
      scratch: take((2 * (hidden / heads) + 4) * padded * 4),
      pooled: take(hidden * 4),
    };
    ensureMemory(kernel.memory, end);
    return buffers;
  }

  /** Returns the vectors of the texts, then the vectors of passages of the first text. `onStates` gets the states before each product that reads them. */
  function encodeBatch(
    texts: readonly Int32Array[],
    passages: readonly TokenRange[] = [],
    onStates?: (layer: number, part: 0 | 1, states: Float32Array) => void,
  ): Float32Array[] {
    const total = texts.reduce((sum, text) => sum + text.length, 0);
    const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
    const buffers = plan(total, longest);
    const { ids, states, scales, zeros, quantised, bytes, wideRows, wide, context, scratch, pooled } = buffers;
    const ranges = layOut(texts);
    const round = (rows: number, width: number, { mask, channels, wideCount }: Inputs) => {
      if (activations === "row") {
        kernel.roundRows(rows, total, width, mask, quantised, scales, zeros);
        bytewise?.splitRows(quantised, zeros, total, width, channels, wideCount, bytes, wideRows);
        return;
      }
      for (const { text, start } of ranges) {
        const at = start * width;
        kernel.quantiseTogether(rows + at * 4, text.length, width, quantised + at * 2, scales + start * 4);
      }
    };
    const product = (
      { matrix, sums, wide: wideWeights, scale, bias }: Linear,
      { wideCount }: Inputs,
      [k, n]: readonly [inputs: number, outputs: number],
      {
        activate = 0,
        residual = 0,
        out,
      }: { readonly activate?: number; readonly residual?: number; readonly out: number },
    ) => {
      const result = [scale, bias, n, activate, residual, out] as const;
      if (bytewise === undefined) kernel.multiply(quantised, scales, total, k, matrix, ...result);
      else {
        const rows = [bytes, zeros, scales, total, k, wideRows, wideCount] as const;
        bytewise.multiplyBytes(...rows, matrix, wideWeights, sums, ...result);
      }
    };

    const idView = new Int32Array(kernel.memory.buffer, ids, total);
    for (const { text, start } of ranges) {
      idView.set(text, start);
      kernel.embedTokens(
        ids + start * 4,
        text.length,
        hidden,
        weights.tokens,
        weights.tokenScales,
        weights.positions,
        states + start * hidden * 4,
      );
    }
    kernel.normaliseRows(states, total, hidden, weights.norm.weight, weights.norm.bias, epsilon);

    for (const [layer, { qkv, output, attentionNorm, up, down, feedforwardNorm }] of weights.layers.entries()) {
      const [beforeAttention, beforeFeedforward] = stateInputs[layer] ?? [weights.even, weights.even];
      onStates?.(layer, 0, new Float32Array(kernel.memory.buffer, states, total * hidden));
      round(states, hidden, beforeAttention);
      product(qkv, beforeAttention, [hidden, 3 * hidden], { out: wide });
      for (const { text, start } of ranges) {
        kernel.attend(
          wide + start * 3 * hidden * 4,
          text.length,
          heads,
          hidden / heads,
          scratch,
          context + start * hidden * 4,
        );
      }
      round(context, hidden, weights.even);
      // The residual is added in place: each tile reads an output element before it writes it.
      product(output, weights.even, [hidden, hidden], { residual: states, out: states });
      kernel.normaliseRows(states, total, hidden, attentionNorm.weight, attentionNorm.bias, epsilon);

      onStates?.(layer, 1, new Float32Array(kernel.memory.buffer, states, total * hidden));
      round(states, hidden, beforeFeedforward);
      product(up, beforeFeedforward, [hidden, intermediate], { activate: 1, out: wide });
      round(wide, intermediate, weights.even);
      product(down, weights.even, [intermediate, hidden], { residual: states, out: states });
      kernel.normaliseRows(states, total, hidden, feedforwardNorm.weight, feedforwardNorm.bias, epsilon);
    }

    const whole = ranges.map(({ text, start }) => ({ start, length: text.length }));
    return [...whole, ...passages].map(({ start, length }) => {
      kernel.poolRows(states + start * hidden * 4, length, hidden, pooled);
      return new Float32Array(kernel.memory.buffer, pooled, hidden).slice();
    });
  }

  /** Encodes texts independently of each other. A passage is pooled from the states of the first text, so it needs no pass of its own. */
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

  if (activations === "row") stateInputs = findWideChannels();

  /** Encodes a fixed text, and returns the channels that are the largest there as the wide ones. */
  function findWideChannels(): readonly (readonly [Inputs, Inputs])[] {
    const largest = weights.layers.map(() => [new Float32Array(hidden), new Float32Array(hidden)] as const);
    const probe = Int32Array.from(
      { length: Math.min(PROBE_TOKENS, positions) },
      (_, at) => (13 + 7919 * at) % vocabulary,
    );
    encodeBatch([probe], [], (layer, part, states) => {
      const most = largest[layer]?.[part] ?? new Float32Array();
      // Plain loops: iterators made this the longest part of loading.
      for (let at = 0; at < states.length; at++) {
        const value = Math.abs(states[at] ?? 0);
        if (value > (most[at % hidden] ?? 0)) most[at % hidden] = value;
      }
    });
    return largest.map(([before, after], layer) => [
      weights.widen(`layers.${layer}.attention.qkv`, topChannels(before)),
      weights.widen(`layers.${layer}.feedforward.up`, topChannels(after)),
    ]);
  }

  return {
    model,
    dimension: hidden,
    /** The longest text, in tokens, including [CLS] and [SEP]. */
    maxTokens: positions,
    /** Returns one vector per text, in order. The texts from `passagesFrom` on are passages of the first. */
    encode,
  };
}

/** Returns the channels with the largest values, in ascending order. */
function topChannels(largest: Float32Array): readonly number[] {
  const order = Array.from(largest.keys()).toSorted((one, other) => (largest[other] ?? 0) - (largest[one] ?? 0));
  return order.slice(0, WIDE_CHANNELS).toSorted((one, other) => one - other);
}

interface TokenRange {
  readonly start: number;
  readonly length: number;
}

/** Finds the tokens of a passage, without [CLS] and [SEP], in a text. Returns undefined if the text does not contain them in this order. */
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

/** Returns where each text's tokens start. Texts follow each other without padding. */
function layOut(texts: readonly Int32Array[]): { readonly text: Int32Array; readonly start: number }[] {
  let start = 0;
  return texts.map((text) => {
    const range = { text, start };
    start += text.length;
    return range;
  });
}

/** Groups consecutive texts into batches of at most `BATCH_TOKENS` tokens. A longer text is a batch of its own. */
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
