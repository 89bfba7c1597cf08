import { readFileSync } from "node:fs";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { BUCKETS } from "./features.ts";

// Sources and build output have the same depth in the package, so this path works in both.
const FILE = new URL("../../../../models/weights/wording.bin", import.meta.url);

/** The header has scale, bias and the two thresholds, as little-endian 32-bit floats. One weight per bucket follows, as a signed byte. */
const HEADER_BYTES = 16;

export interface WordingModel {
  readonly weights: Int8Array;
  /** The value of a weight of 1. */
  readonly scale: number;
  readonly bias: number;
  /** The lowest reported score, by the origin of the text. */
  readonly thresholds: Readonly<Record<"definition" | "result", number>>;
}

let shipped: WordingModel | undefined;

/** Returns the model in the package, loaded on first use. */
export function shippedModel(): WordingModel {
  return (shipped ??= readModel(FILE));
}

/** Reads a model written by `models/wording.ts`. */
export function readModel(file: URL): WordingModel {
  let content: Buffer<ArrayBuffer>;
  try {
    content = readFileSync(file);
  } catch (cause) {
    throw unreadable(file, "it is missing or unreadable", cause);
  }
  if (content.length !== HEADER_BYTES + BUCKETS) throw unreadable(file, `it has ${content.length} bytes`);
  return {
    weights: new Int8Array(content.buffer, content.byteOffset + HEADER_BYTES, BUCKETS),
    scale: content.readFloatLE(0),
    bias: content.readFloatLE(4),
    thresholds: { definition: content.readFloatLE(8), result: content.readFloatLE(12) },
  };
}

function unreadable({ pathname }: URL, why: string, cause?: unknown): ArsenalError {
  const fix = "Reinstall the package, and mark it as external in your bundler; or set security.scan.wording to off.";
  const problem = `Cannot read the weights of the wording scanner, ${pathname}: ${why}.`;
  return fixable("INPUT_INVALID", problem, fix, { field: "security.scan.wording", value: pathname, cause });
}
