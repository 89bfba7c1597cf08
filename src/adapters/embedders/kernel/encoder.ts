import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { aligned, ensureMemory, instantiateKernel, type KernelFunctions, quantisationLimit } from "./kernel.ts";
import { type Architecture, readWeights, type Tensor } from "./weights.ts";

export type Encoder = ReturnType<typeof createEncoder>;

interface EncoderOptions {
  /** A weight file. It is copied, so the caller may release it. */
  readonly weights: Uint8Array;
  /**
   * `row` rounds activations to about 13 bits per token. `text` rounds to 8 bits per text like onnxruntime, for comparison with it. Defaults to
   * `row`.
   */
  readonly activations?: "row" | "text";
}

/** The tokens that are processed together: enough to reuse each weight often, and few enough to stay in the L2 cache. */
const BATCH_TOKENS = 128;
/** The kernel works on four rows at a time, so it may read and write this many rows past the last one. */
const SLACK = 8;

/** Loads a BERT encoder with mean pooling: token ids in, one unit vector per text out. Not reentrant. Throws if the weight file is damaged. */
export function createEncoder({ weights: file, activations = "row" }: EncoderOptions) {
  const kernel = instantiateKernel();
  const { model, architecture, tensors } = readWeights(file);
  const { hidden, heads, intermediate, vocabulary, positions, epsilon } = architecture;
  const weights = placeWeights(kernel, architecture, tensors);
  const hiddenLimit = quantisationLimit(hidden);
  const intermediateLimit = quantisationLimit(intermediate);

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
      quantised: take(rows * Math.max(hidden, intermediate) * 2),
      // Holds query, key and value during attention, and the intermediate layer during the feed-forward.
      wide: take(rows * Math.max(3 * hidden, intermediate) * 4),
      context: take(rows * hidden * 4),
      scratch: take((2 * (hidden / heads) + 4) * padded * 4),
      pooled: take(hidden * 4),
    };
    ensureMemory(kernel.memory, end);
    return buffers;
  }

  /** Returns the vectors of the texts, then the vectors of passages of the first text. */
  function encodeBatch(texts: readonly Int32Array[], passages: readonly TokenRange[] = []): Float32Array[] {
    const total = texts.reduce((sum, text) => sum + text.length, 0);
    const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
    const { ids, states, scales, quantised, wide, context, scratch, pooled } = plan(total, longest);
    const ranges = layOut(texts);
    const quantise = (rows: number, width: number, limit: number) => {
      if (activations === "row") kernel.quantiseRows(rows, total, width, limit, quantised, scales);
      else {
        for (const { text, start } of ranges) {
          const at = start * width;
          kernel.quantiseTogether(rows + at * 4, text.length, width, quantised + at * 2, scales + start * 4);
        }
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

    for (const { qkv, output, attentionNorm, up, down, feedforwardNorm } of weights.layers) {
      quantise(states, hidden, hiddenLimit);
      kernel.multiply(quantised, scales, total, hidden, qkv.matrix, qkv.scale, qkv.bias, 3 * hidden, 0, 0, wide);
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
      quantise(context, hidden, hiddenLimit);
      // The residual is added in place: each tile reads an output element before it writes it.
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

  return {
    model,
    dimension: hidden,
    /** The longest text, in tokens, including [CLS] and [SEP]. */
    maxTokens: positions,
    /** Returns one vector per text, in order. The texts from `passagesFrom` on are passages of the first. */
    encode,
  };
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

/**
 * Copies the weights into the kernel's memory, with matrices in the order in which `multiply` reads them. Returns their offsets. Memory from `end` on
 * is free.
 */
function placeWeights(kernel: KernelFunctions, architecture: Architecture, tensors: ReadonlyMap<string, Tensor>) {
  const total = [...tensors.values()].reduce((sum, tensor) => sum + aligned(tensor.bytes.length), 0);
  const largest = Math.max(3 * architecture.hidden, architecture.intermediate) * architecture.hidden;
  let end = aligned(kernel.heapStart.value);
  const staging = end + total;
  ensureMemory(kernel.memory, staging + largest);
  const memory = new Uint8Array(kernel.memory.buffer);

  const take = (bytes: number) => {
    const start = end;
    end = aligned(start + bytes);
    return start;
  };
  const copy = (name: string) => {
    const { bytes } = tensors.get(name) as Tensor;
    const start = take(bytes.length);
    memory.set(bytes, start);
    return start;
  };
  const linear = (name: string) => {
    const { bytes, shape } = tensors.get(name) as Tensor;
    const matrix = take(bytes.length);
    memory.set(bytes, staging);
    kernel.packWeights(staging, shape[0] ?? 0, shape[1] ?? 0, matrix);
    return { matrix, scale: copy(`${name}.scale`), bias: copy(`${name}.bias`) };
  };
  const norm = (name: string) => ({ weight: copy(`${name}.weight`), bias: copy(`${name}.bias`) });

  const placed = {
    tokens: copy("embeddings.tokens"),
    tokenScales: copy("embeddings.tokens.scale"),
    positions: copy("embeddings.positions"),
    norm: norm("embeddings.norm"),
    layers: Array.from({ length: architecture.layers }, (_, index) => ({
      qkv: linear(`layers.${index}.attention.qkv`),
      output: linear(`layers.${index}.attention.output`),
      attentionNorm: norm(`layers.${index}.attention.norm`),
      up: linear(`layers.${index}.feedforward.up`),
      down: linear(`layers.${index}.feedforward.down`),
      feedforwardNorm: norm(`layers.${index}.feedforward.norm`),
    })),
  };
  return { ...placed, end };
}
