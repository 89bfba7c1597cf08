import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { fixable } from "../../errors/arsenal-error.ts";

// Sources and build output have the same depth in the package, so this path works in both.
const WEIGHTS = new URL("../../../models/weights/", import.meta.url);

export const SHIPPED_FILES: Readonly<Record<"vocabulary" | "staticRows" | "staticScales" | "tuned", URL>> = {
  vocabulary: new URL("./wordpiece/vocabulary.txt", import.meta.url),
  staticRows: new URL("static.i6", WEIGHTS),
  staticScales: new URL("static.scale.f32", WEIGHTS),
  tuned: new URL("tuned.bin", WEIGHTS),
};

/** Reads a file of the package. If it is missing, the error explains how to restore it. */
export function readShipped(file: URL): Buffer<ArrayBuffer> {
  return orExplain(file, () => readFileSync(file));
}

/** Reads the first `length` bytes of a file of the package, or all of it if it is shorter. */
export function readStart(file: URL, length: number): Buffer<ArrayBuffer> {
  return orExplain(file, () => {
    const handle = openSync(file, "r");
    try {
      const start = Buffer.alloc(length);
      return start.subarray(0, readSync(handle, start, 0, length, 0));
    } finally {
      closeSync(handle);
    }
  });
}

function orExplain<Result>(file: URL, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    const details = { field: "embedder", value: file.pathname, cause };
    const fix = "Reinstall the package, and mark it as external in your bundler.";
    throw fixable("INPUT_INVALID", `A file of the shipped embedder cannot be read: ${file.pathname}.`, fix, details);
  }
}

/** The most tokens that the shipped models read of a text, as in their training. */
export const TOKEN_LIMITS: { readonly query: number; readonly tool: number } = { query: 256, tool: 192 };
