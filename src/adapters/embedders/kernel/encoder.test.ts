import { beforeAll, describe, expect, it } from "vitest";
import { createEncoder, type Encoder } from "./encoder.ts";
import { instantiateKernel } from "./kernel.ts";
import { type Architecture, readWeights, tensorShapes, writeWeights } from "./weights.ts";

const architecture: Architecture = {
  layers: 2,
  hidden: 32,
  heads: 2,
  intermediate: 64,
  vocabulary: 50,
  positions: 300,
  epsilon: 1e-12,
};
const values = randomValues(7);
const weights = writeWeights("tiny-1", architecture, values);

const LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 31, 64, 129, 256, 300];

describe("createEncoder", () => {
  let encoder: Encoder;
  beforeAll(() => {
    encoder = createEncoder({ weights });
  });

  it("agrees with textbook arithmetic that rounds the same way, for every length, whatever the blocks of the kernel", () => {
    for (const length of LENGTHS) {
      const text = randomText(length, length);
      const [vector = new Float32Array()] = encoder.encode([text]);
      expect(largestDifference(vector, naiveEncode(text, sevenBits)), `${length} tokens`).toBeLessThan(4e-3);
    }
  });

  it("stays close to float arithmetic", () => {
    for (const length of LENGTHS) {
      const text = randomText(length, length);
      const [vector = new Float32Array()] = encoder.encode([text]);
      expect(dot([...vector], naiveEncode(text, floats)), `${length} tokens`).toBeGreaterThan(0.99);
    }
  });

  it("gives the same vectors, bit for bit, with relaxed SIMD and without", () => {
    const texts = LENGTHS.map((length) => randomText(length, length));
    const [relaxed, plain] = (["relaxed", "plain"] as const).map((kernel) => createEncoder({ weights, kernel }));
    expect(relaxed?.encode(texts)).toEqual(plain?.encode(texts));
  });

  it("gives vectors of unit length and the dimension it names", () => {
    const [vector = new Float32Array()] = encoder.encode([randomText(20, 1)]);
    expect(vector).toHaveLength(32);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
    expect(encoder).toMatchObject({ model: "tiny-1", dimension: 32, maxTokens: 300 });
  });

  it("gives a text the same vector alone and among others, in order", () => {
    const texts = Array.from({ length: 40 }, (_, index) => randomText(1 + ((index * 13) % 60), index));
    const alone = texts.map((text) => encoder.encode([text])[0]);
    expect(encoder.encode(texts)).toEqual(alone);
    expect(encoder.encode([])).toEqual([]);
  });

  it("pools a passage from the states of the first text, and encodes alone what is no passage of it", () => {
    const whole = randomText(30, 3);
    const markers = { first: whole.at(0) ?? 0, last: whole.at(-1) ?? 0 };
    const passage = (tokens: Int32Array) => Int32Array.of(markers.first, ...tokens, markers.last);
    const [inside, across] = [passage(whole.subarray(4, 11)), passage(whole.subarray(11, 29))];
    const foreign = passage(whole.subarray(4, 11).toReversed());
    const vectors = encoder.encode([whole, randomText(9, 4), across, foreign, inside], { passagesFrom: 2 });
    const expected = [
      naiveEncode(whole, sevenBits),
      naiveEncode(randomText(9, 4), sevenBits),
      naiveEncode(whole, sevenBits, [11, 29]),
      naiveEncode(foreign, sevenBits),
      naiveEncode(whole, sevenBits, [4, 11]),
    ];
    vectors.forEach((vector, index) => {
      expect(largestDifference(vector, expected[index] ?? []), `text ${index}`).toBeLessThan(4e-3);
    });
    expect(vectors).toHaveLength(5);
  });

  it("gives vectors that later calls do not overwrite", () => {
    const [first = new Float32Array()] = encoder.encode([randomText(5, 1)]);
    const kept = first.slice();
    encoder.encode([randomText(250, 2)]);
    expect(first).toEqual(kept);
  });

  it("rounds activations as onnxruntime's int8 graphs do where asked to", () => {
    const coarse = createEncoder({ weights, activations: "text" });
    const texts = [5, 9, 30].map((length) => randomText(length, length));
    for (const [index, vector] of coarse.encode(texts).entries()) {
      const text = texts[index] ?? new Int32Array();
      expect(largestDifference(vector, naiveEncode(text, eightBits))).toBeLessThan(2e-3);
      expect(largestDifference(vector, naiveEncode(text, floats))).toBeGreaterThan(2e-3);
    }
  });

  it("refuses texts it cannot take and says why", () => {
    expect(() => encoder.encode([new Int32Array()])).toThrow("A text has 0 tokens; the encoder takes 1 to 300");
    expect(() => encoder.encode([new Int32Array(301)])).toThrow("A text has 301 tokens");
    expect(() => encoder.encode([Int32Array.of(1, 50)])).toThrow("Token id 50 is outside the vocabulary of 50");
    expect(() => encoder.encode([Int32Array.of(-1)])).toThrow("Token id -1 is outside");
  });
});

describe("the weight file", () => {
  it("reads back what was written", () => {
    const read = readWeights(weights);
    expect(read.architecture).toEqual(architecture);
    for (const [name, bytes] of values)
      expect(Buffer.from(read.tensors.get(name)?.bytes ?? []).equals(bytes)).toBe(true);
  });

  it("can lie anywhere in a larger buffer", () => {
    const larger = new Uint8Array(weights.length + 3);
    larger.set(weights, 3);
    const [vector] = createEncoder({ weights: larger.subarray(3) }).encode([Int32Array.of(1, 2)]);
    expect(vector).toEqual(createEncoder({ weights }).encode([Int32Array.of(1, 2)])[0]);
  });

  it.each([
    [
      "one byte of the payload is wrong",
      (file: Uint8Array) => file.with(file.length - 1, 255 - (file.at(-1) ?? 0)),
      "checksum",
    ],
    ["one byte of the header is wrong", (file: Uint8Array) => file.with(60, 0), "checksum"],
    ["it is cut short", (file: Uint8Array) => file.subarray(0, file.length - 64), "checksum"],
    ["it is something else", (file: Uint8Array) => file.with(0, 0), "does not begin with TAENCODR"],
    [
      "it is of a later version",
      (file: Uint8Array) => file.with(8, 2),
      "its version is 2, this package reads version 1",
    ],
    ["it is empty", () => new Uint8Array(), "does not begin with TAENCODR"],
  ])("is refused where %s", (_case, damage, message) => {
    expect(() => readWeights(damage(Uint8Array.from(weights)))).toThrow(message);
  });

  it("is refused where the kernel's blocks do not fit its sizes", () => {
    expect(() => writeWeights("x", { ...architecture, hidden: 24 }, values)).toThrow("multiples of 16");
    expect(() => writeWeights("x", { ...architecture, heads: 3 }, values)).toThrow("does not split into 3 heads");
  });
});

describe("multiply", () => {
  it("applies GELU with the error function, within 1e-6", () => {
    const kernel = instantiateKernel();
    const { buffer } = kernel.memory;
    const [source, packed, rows, scales, ones, zeros, out] = [0, 256, 512, 1024, 1088, 1216, 1344].map(
      (offset) => 8192 + offset,
    ) as [number, number, number, number, number, number, number];
    const at = { source, packed, rows, scales, ones, zeros, out };
    new Int8Array(buffer, at.source, 32).set(Array.from({ length: 32 }, (_, i) => (i % 4 === 0 ? 1 : 0)));
    kernel.packWeights(at.source, 8, 4, at.packed);
    new Float32Array(buffer, at.ones, 8).fill(1);
    for (let x = -8; x <= 8; x += 1 / 64) {
      new Int16Array(buffer, at.rows, 16).fill(0)[0] = x * 64;
      new Float32Array(buffer, at.scales, 4).fill(1 / 64);
      kernel.multiply(at.rows, at.scales, 1, 4, at.packed, at.ones, at.zeros, 8, 1, 0, at.out);
      const actual = new Float32Array(buffer, at.out, 1)[0] ?? Number.NaN;
      expect(Math.abs(actual - gelu(x)), `gelu(${x})`).toBeLessThan(1e-6);
    }
  });
});

describe("multiplyBytes", () => {
  it("gives the sums of integers, also of the largest ones", () => {
    const kernel = instantiateKernel("relaxed");
    const { packByteWeights, splitRows, multiplyBytes } = kernel;
    if (!packByteWeights || !splitRows || !multiplyBytes) throw new Error("The kernel has no products of bytes.");
    const random = randomNumbers(5);
    const [rows, inputs, outputs, wideCount] = [4, 32, 8, 4];
    const [source, packed, sums, wideSource, wideWeights] = [16_384, 17_408, 18_432, 18_560, 18_688] as const;
    const [numbers, zeros, channelsAt, bytes, wide, ones, nothing, out] = [
      20_480, 21_504, 21_632, 22_528, 23_552, 24_576, 24_704, 25_600,
    ] as const;
    const { buffer } = kernel.memory;
    const matrix = Array.from({ length: outputs }, () =>
      Array.from({ length: inputs }, (_, at) => (at % 5 === 0 ? -128 : Math.floor(random() * 256) - 128)),
    );
    const channels = [1, 8, 20, 31];
    const zero = [0, 127, 64, 13];
    const integers = zero.map((offset) =>
      Array.from({ length: inputs }, (_, at) =>
        channels.includes(at)
          ? Math.floor(random() * 65_000) - 32_500
          : (at % 3 === 0 ? 127 : Math.floor(random() * 128)) - offset,
      ),
    );
    new Int8Array(buffer, source, outputs * inputs).set(matrix.flat());
    new Int8Array(buffer, wideSource, outputs * wideCount).set(
      matrix.flatMap((row) => channels.map((channel) => row[channel] ?? 0)),
    );
    new Int16Array(buffer, numbers, rows * inputs).set(integers.flat());
    new Int32Array(buffer, zeros, rows).set(zero);
    new Int32Array(buffer, channelsAt, wideCount).set(channels);
    new Float32Array(buffer, ones, outputs).fill(1);
    packByteWeights(source, outputs, inputs, packed, sums);
    kernel.packWeights(wideSource, outputs, wideCount, wideWeights);
    splitRows(numbers, zeros, rows, inputs, channelsAt, wideCount, bytes, wide);
    const operands = [bytes, zeros, ones, rows, inputs, wide, wideCount, packed, wideWeights, sums] as const;
    multiplyBytes(...operands, ones, nothing, outputs, 0, 0, out);
    const expected = integers.flatMap((row) => matrix.map((weightsOfOutput) => Math.fround(dot(row, weightsOfOutput))));
    expect([...new Float32Array(buffer, out, rows * outputs)]).toEqual(expected);
  });
});

describe("attend", () => {
  it("weighs values by the softmax of their scores, within a few millionths", () => {
    const kernel = instantiateKernel();
    const { buffer } = kernel.memory;
    const [qkv, scratch, out] = [8192, 16_384, 32_768];
    for (let score = -80; score <= 0; score += 1 / 8) {
      // Two tokens, one head of eight: every query scores `score` with the first key and 0 with the second; the first value is 1, the second 0.
      const rows = new Float32Array(buffer, qkv, 5 * 24).fill(0);
      for (const token of [0, 1]) rows[token * 24] = 1;
      rows[8] = score;
      rows[16] = 1;
      kernel.attend(qkv, 2, 1, 8, scratch, out);
      const expected = Math.exp(score) / (1 + Math.exp(score));
      const actual = new Float32Array(buffer, out, 1)[0] ?? Number.NaN;
      expect(Math.abs(actual / expected - 1), `softmax of ${score}`).toBeLessThan(3e-6);
    }
  });
});

function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

function randomText(length: number, seed: number): Int32Array {
  const random = randomNumbers(seed + 1000);
  return Int32Array.from({ length }, () => Math.floor(random() * architecture.vocabulary));
}

/** Weights that spread activations over the curved part of GELU and attention over several tokens. */
function randomValues(seed: number): Map<string, Uint8Array> {
  const random = randomNumbers(seed);
  return new Map(
    tensorShapes(architecture).map(({ name, type, shape }) => {
      const size = shape.reduce((product, part) => product * part, 1);
      if (type === "i8") return [name, Uint8Array.from({ length: size }, () => Math.floor(random() * 256))];
      const middle = name.endsWith("scale") ? 0.004 : name.endsWith("norm.weight") ? 1 : 0;
      const spread = name.endsWith("scale") ? 0.002 : 0.3;
      const numbers = Float32Array.from({ length: size }, () => middle + (random() - 0.5) * 2 * spread);
      return [name, new Uint8Array(numbers.buffer)];
    }),
  );
}

type Matrix = readonly (readonly number[])[];

function tensor(name: string): Matrix {
  const { bytes, shape, type } = readWeights(weights).tensors.get(name) ?? {
    bytes: new Uint8Array(),
    shape: [],
    type: "i8",
  };
  const copy = Uint8Array.from(bytes).buffer;
  const flat = [...(type === "i8" ? new Int8Array(copy) : new Float32Array(copy))];
  const width = shape.at(-1) ?? 1;
  return Array.from({ length: flat.length / width }, (_, row) => flat.slice(row * width, (row + 1) * width));
}

/** Rounds the inputs of a product with the given weights. */
type Round = (rows: Matrix, weightName: string) => Matrix;

const floats: Round = (rows) => rows;

/** Rounds each row to 127 steps that hold its smallest and its largest number; the wide channels may lie outside of them. */
function roundToSteps(rows: Matrix, wide: ReadonlySet<number>): Matrix {
  return rows.map((row) => {
    const others = row.filter((_, channel) => !wide.has(channel));
    const step = (Math.max(0, ...others) - Math.min(0, ...others)) / 126;
    return row.map((x) => Math.round(x / step) * step);
  });
}

/** Finds the eight channels of the states that are the largest in a fixed text, before each product that reads states. */
function findWideChannels(): ReadonlyMap<string, ReadonlySet<number>> {
  const wide = new Map<string, ReadonlySet<number>>();
  const probe = Int32Array.from({ length: 96 }, (_, at) => (13 + 7919 * at) % architecture.vocabulary);
  naiveEncode(probe, (rows, name) => {
    if (/qkv|up/.test(name)) {
      const largest = (rows[0] ?? []).map((_, channel) => Math.max(...rows.map((row) => Math.abs(row[channel] ?? 0))));
      const order = [...largest.keys()].toSorted((one, other) => (largest[other] ?? 0) - (largest[one] ?? 0));
      wide.set(name, new Set(order.slice(0, 8)));
    }
    return roundToSteps(rows, new Set());
  });
  return wide;
}

let wideChannels: ReadonlyMap<string, ReadonlySet<number>> | undefined;
const sevenBits: Round = (rows, name) => {
  wideChannels ??= findWideChannels();
  return roundToSteps(rows, wideChannels.get(name) ?? new Set());
};

/** ONNX's DynamicQuantizeLinear and back. */
function eightBits(rows: Matrix): Matrix {
  const lowest = Math.min(0, ...rows.flat());
  const scale = (Math.max(0, ...rows.flat()) - lowest) / 255;
  const zero = Math.round(-lowest / scale);
  return rows.map((row) => row.map((x) => (Math.min(255, Math.max(0, Math.round(x / scale) + zero)) - zero) * scale));
}

/** The encoder as a textbook has it, in 64-bit floats: the mean of the states of all tokens, or of those from `start` to before `end`. */
function naiveEncode(text: Int32Array, round: Round, [start, end]: readonly number[] = []): number[] {
  const { hidden, heads, layers } = architecture;
  const size = hidden / heads;
  const linear = (rows: Matrix, name: string): Matrix => {
    const [matrix, scale, bias] = [tensor(name), tensor(`${name}.scale`)[0] ?? [], tensor(`${name}.bias`)[0] ?? []];
    return round(rows, name).map((row) =>
      matrix.map((column, o) => dot(row, column) * (scale[o] ?? 0) + (bias[o] ?? 0)),
    );
  };
  const norm = (rows: Matrix, name: string): Matrix => {
    const [weight, bias] = [tensor(`${name}.weight`)[0] ?? [], tensor(`${name}.bias`)[0] ?? []];
    return rows.map((row) => {
      const mean = sum(row) / hidden;
      const deviation = Math.sqrt(sum(row.map((x) => (x - mean) ** 2)) / hidden + architecture.epsilon);
      return row.map((x, i) => ((x - mean) / deviation) * (weight[i] ?? 0) + (bias[i] ?? 0));
    });
  };
  const add = (a: Matrix, b: Matrix): Matrix => a.map((row, r) => row.map((x, i) => x + (b[r]?.[i] ?? 0)));
  const attention = (qkv: Matrix): Matrix =>
    qkv.map((row) =>
      Array.from({ length: heads }, (_, head) => {
        const part = (r: readonly number[], which: number) => r.slice(which * hidden + head * size).slice(0, size);
        const scores = qkv.map((other) => dot(part(row, 0), part(other, 1)));
        const top = Math.max(...scores);
        const shares = scores.map((score) => Math.exp(score - top));
        const total = sum(shares);
        return Array.from({ length: size }, (_unused, i) =>
          sum(qkv.map((other, t) => ((shares[t] ?? 0) / total) * (part(other, 2)[i] ?? 0))),
        );
      }).flat(),
    );

  const [tokens, scale, positions] = [
    tensor("embeddings.tokens"),
    tensor("embeddings.tokens.scale")[0] ?? [],
    tensor("embeddings.positions"),
  ];
  let states: Matrix = [...text].map((id, t) =>
    (tokens[id] ?? []).map((x, i) => x * (scale[id] ?? 0) + (positions[t]?.[i] ?? 0)),
  );
  states = norm(states, "embeddings.norm");
  for (let layer = 0; layer < layers; layer++) {
    const context = attention(linear(states, `layers.${layer}.attention.qkv`));
    states = norm(add(states, linear(context, `layers.${layer}.attention.output`)), `layers.${layer}.attention.norm`);
    const middle = linear(states, `layers.${layer}.feedforward.up`).map((row) => row.map(gelu));
    states = norm(add(states, linear(middle, `layers.${layer}.feedforward.down`)), `layers.${layer}.feedforward.norm`);
  }
  const pooled = states.slice(start, end);
  const mean = Array.from({ length: hidden }, (_, i) => sum(pooled.map((row) => row[i] ?? 0)) / pooled.length);
  return mean.map((x) => x / Math.hypot(...mean));
}

const sum = (row: readonly number[]): number => row.reduce((total, x) => total + x, 0);
const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((total, x, i) => total + x * (b[i] ?? 0), 0);
const gelu = (x: number): number => (x / 2) * (1 + erf(x / Math.SQRT2));

/** The error function from its series, which converges everywhere and is exact to 1e-12 below 6. */
function erf(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x);
  let term = x;
  let total = x;
  for (let n = 1; n < 150; n++) {
    term *= (-x * x) / n;
    total += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * total;
}

function largestDifference(a: Float32Array, b: readonly number[]): number {
  return Math.max(...b.map((x, i) => Math.abs(x - (a[i] ?? Number.NaN))));
}
