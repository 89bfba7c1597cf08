/**
 * Converts an int8 ONNX encoder (per-channel MatMulInteger with zero points of 0, like the reference model) into the weight file of the
 * shipped encoder, with the same int8 weights: `node scripts/convert-onnx-weights.ts MODEL.onnx OUT.bin --model NAME`.
 */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { pickRows } from "../models/kept-tokens.ts";
import { type Architecture, tensorShapes, writeWeights } from "../src/adapters/embedders/kernel/weights.ts";

interface Initialiser {
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** The bytes of a weight file with the weights of `onnx`, of the tokens with these numbers; of all by default. */
export function convertOnnxWeights(onnx: Uint8Array, model: string, tokens?: readonly number[]): Uint8Array {
  const initialisers = readInitialisers(onnx);
  const get = (name: string): Initialiser => {
    const found = initialisers.get(name);
    if (found === undefined) throw new Error(`The ONNX file has no initialiser ${name}.`);
    return found;
  };
  const [size = 0, hidden = 0] = get("weq").shape;
  const kept = tokens ?? Array.from({ length: size }, (_, number) => number);
  const architecture: Architecture = {
    layers: [...initialisers.keys()].filter((name) => /^encoder\.layer\.\d+\.qkv\.wq$/.test(name)).length,
    hidden,
    heads: hidden / 32,
    intermediate: get("encoder.layer.0.ff1.wq").shape[1] ?? 0,
    vocabulary: kept.length,
    positions: get("pe").shape[0] ?? 0,
    epsilon: 1e-12,
  };
  const values = new Map<string, Uint8Array>();
  for (const { name, type, shape } of tensorShapes(architecture)) {
    const source = get(onnxName(name));
    if (type === "i8" && name !== "embeddings.tokens") {
      const [inputs = 0, outputs = 0] = source.shape;
      if (outputs !== shape[0] || inputs !== shape[1]) throw new Error(`${name}: the ONNX shape is ${source.shape}.`);
      if (get(onnxName(name).replace(/wq$/, "wz")).bytes.some((zero) => zero !== 0)) {
        throw new Error(`${name}: a zero point is not 0.`);
      }
      values.set(name, transpose(source.bytes, inputs, outputs));
    } else if (name.startsWith("embeddings.tokens"))
      values.set(name, pickRows(source.bytes, source.bytes.length / size, kept));
    else values.set(name, source.bytes);
  }
  return writeWeights(model, architecture, values);
}

function onnxName(name: string): string {
  const fixed: Readonly<Record<string, string>> = {
    "embeddings.tokens": "weq",
    "embeddings.tokens.scale": "wes",
    "embeddings.positions": "pe",
    "embeddings.norm.weight": "embeddings.LayerNorm.weight",
    "embeddings.norm.bias": "embeddings.LayerNorm.bias",
  };
  const part: Readonly<Record<string, string>> = {
    "attention.qkv": "qkv",
    "attention.output": "attention.output.d",
    "attention.norm": "attention.output.LayerNorm",
    "feedforward.up": "ff1",
    "feedforward.down": "ff2",
    "feedforward.norm": "output.LayerNorm",
  };
  const match = /^layers\.(\d+)\.(\w+\.\w+)(?:\.(\w+))?$/.exec(name);
  if (match === null) return fixed[name] ?? name;
  const [, layer, which = "", suffix] = match;
  const tail = which.endsWith("norm") ? suffix : { scale: "ws", bias: "b" }[suffix ?? ""];
  return `encoder.layer.${layer}.${part[which]}.${tail ?? "wq"}`;
}

function transpose(bytes: Uint8Array, rows: number, columns: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) out[column * rows + row] = bytes[row * columns + column] ?? 0;
  }
  return out;
}

interface Field {
  readonly number: number;
  readonly value: number;
  readonly bytes: Uint8Array;
}

const NO_BYTES = new Uint8Array();

/** The fields of one protobuf message; 64-bit values above 2^53, which no shape has, lose precision. */
function* fields(message: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) yield { number, value: varint(), bytes: NO_BYTES };
    else {
      const length = wire === 2 ? varint() : wire === 5 ? 4 : 8;
      yield { number, value: 0, bytes: message.subarray(at, at + length) };
      at += length;
    }
  }
}

/** ModelProto.graph (7) → GraphProto.initializer (5) → TensorProto: dims (1), name (8), raw_data (9). */
function readInitialisers(onnx: Uint8Array): Map<string, Initialiser> {
  const found = new Map<string, Initialiser>();
  for (const graph of fields(onnx)) {
    if (graph.number !== 7) continue;
    for (const tensor of fields(graph.bytes)) {
      if (tensor.number !== 5) continue;
      const parts = [...fields(tensor.bytes)];
      const name = Buffer.from(parts.find((part) => part.number === 8)?.bytes ?? NO_BYTES).toString();
      const shape = parts.filter((part) => part.number === 1).map((part) => part.value);
      found.set(name, { shape, bytes: parts.find((part) => part.number === 9)?.bytes ?? NO_BYTES });
    }
  }
  return found;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ options: { model: { type: "string" } }, allowPositionals: true });
  const [source, target] = positionals;
  if (source === undefined || target === undefined) {
    console.error("Usage: node scripts/convert-onnx-weights.ts MODEL.onnx OUT.bin --model NAME");
    process.exit(2);
  }
  const file = convertOnnxWeights(await readFile(source), values.model ?? "reference");
  await writeFile(target, file);
  console.log(`${target}: ${(file.length / 1e6).toFixed(1)} MB`);
}
