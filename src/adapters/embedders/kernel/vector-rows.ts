import type { CreateRows, VectorRows } from "../../../catalog/dense/model-vectors.ts";
import { fixable } from "../../../errors/arsenal-error.ts";
import { aligned, ensureMemory, instantiateKernel, quantisationLimit } from "./kernel.ts";

/** The format of rows. `float32` is exact. `int8` needs a quarter of the memory, with an error of about 0.003 in a cosine. */
export type RowFormat = "float32" | "int8";

/** Keeps rows of vectors in WebAssembly memory, where comparing them is fastest. */
export function kernelRows(format: RowFormat): CreateRows {
  return (dimension) => createVectorRows(dimension, format);
}

/** Creates empty rows of vectors in the kernel's memory. `int8` rounds a vector to 1/127 of its largest component. */
export function createVectorRows(dimension: number, format: RowFormat): VectorRows {
  if (!Number.isInteger(dimension) || dimension < 1) {
    const problem = `A vector's dimension is a positive integer, not ${dimension}.`;
    throw fixable("INPUT_INVALID", problem, "Give the embedder's dimension.", { field: "dimension", value: dimension });
  }
  const kernel = instantiateKernel();
  // The kernel reads sixteen components at a time. Components past the dimension stay zero.
  const width = Math.ceil(dimension / 16) * 16;
  const rowBytes = format === "float32" ? width * 4 : width;
  const limit = quantisationLimit(width);
  const floatQuery = aligned(kernel.heapStart.value);
  const query = floatQuery + aligned(width * 4);
  const queryScale = query + aligned(width * 2);
  const rows = queryScale + aligned(4);
  // Rows come first, followed by data whose size depends on their number. Growing then moves only the scales.
  let capacity = 0;
  let scales = rows;
  let selection = rows;
  let scores = rows;

  function reserve(count: number): void {
    if (count <= capacity) return;
    const wanted = Math.max(count, Math.ceil(capacity * 1.5), 64);
    const kept = new Float32Array(kernel.memory.buffer, scales, capacity).slice();
    const oldScales = scales;
    const oldEnd = kernel.memory.buffer.byteLength;
    scales = rows + aligned(wanted * rowBytes);
    selection = scales + aligned(wanted * 4);
    scores = selection + aligned(wanted * 4);
    ensureMemory(kernel.memory, scores + aligned(wanted * 4));
    // Rows will overwrite the old scales, selections and scores. Their padding must be zero.
    if (capacity > 0) new Uint8Array(kernel.memory.buffer).fill(0, oldScales, oldEnd);
    new Float32Array(kernel.memory.buffer, scales, capacity).set(kept);
    capacity = wanted;
  }

  function checkRow(row: number): void {
    if (!Number.isInteger(row) || row < 0 || row >= capacity) {
      const problem = `Row ${row} does not exist: there are ${capacity}.`;
      throw fixable("INPUT_INVALID", problem, "Set it first.", { field: "row", value: row });
    }
  }

  function checkVector(vector: Float32Array): void {
    if (vector.length !== dimension) {
      const problem = `A vector has ${vector.length} components and these rows ${dimension}.`;
      throw fixable("INPUT_INVALID", problem, "Use one embedder for both.", { field: "vector", value: vector.length });
    }
  }

  reserve(1);

  return {
    dimension,
    set(row, vector) {
      checkVector(vector);
      if (!Number.isInteger(row) || row < 0) checkRow(row);
      reserve(row + 1);
      const { buffer } = kernel.memory;
      if (format === "float32") {
        new Float32Array(buffer, rows + row * rowBytes, dimension).set(vector);
        return;
      }
      let largest = 0;
      for (let i = 0; i < dimension; i++) largest = Math.max(largest, Math.abs(vector[i] ?? 0));
      const factor = largest > 0 ? 127 / largest : 0;
      const bytes = new Int8Array(buffer, rows + row * rowBytes, dimension);
      for (let i = 0; i < dimension; i++) bytes[i] = Math.round((vector[i] ?? 0) * factor);
      new Float32Array(buffer, scales, capacity)[row] = largest / 127;
    },
    get(row) {
      checkRow(row);
      const { buffer } = kernel.memory;
      if (format === "float32") return new Float32Array(buffer, rows + row * rowBytes, dimension).slice();
      const scale = new Float32Array(buffer, scales, capacity)[row] ?? 0;
      const bytes = new Int8Array(buffer, rows + row * rowBytes, dimension);
      const vector = new Float32Array(dimension);
      for (let i = 0; i < dimension; i++) vector[i] = (bytes[i] ?? 0) * scale;
      return vector;
    },
    move(from, to) {
      checkRow(from);
      checkRow(to);
      const { buffer } = kernel.memory;
      new Uint8Array(buffer).copyWithin(rows + to * rowBytes, rows + from * rowBytes, rows + (from + 1) * rowBytes);
      new Float32Array(buffer, scales, capacity).copyWithin(to, from, from + 1);
    },
    dump(count) {
      reserve(count);
      const { buffer } = kernel.memory;
      return {
        format,
        bytes: new Uint8Array(buffer, rows, count * rowBytes).slice(),
        scales: new Float32Array(buffer, scales, format === "int8" ? count : 0).slice(),
      };
    },
    load(count, saved) {
      const scaled = format === "int8" ? count : 0;
      if (saved.format !== format || saved.bytes.length !== count * rowBytes || saved.scales.length !== scaled) {
        const problem = `The rows are not ${count} rows of ${dimension} ${format}.`;
        throw fixable("INPUT_INVALID", problem, "Load rows of the same dimension and format.", { field: "saved" });
      }
      reserve(count);
      const { buffer } = kernel.memory;
      new Uint8Array(buffer, rows, count * rowBytes).set(saved.bytes);
      new Float32Array(buffer, scales, scaled).set(saved.scales);
    },
    scores(vector, chosen) {
      checkVector(vector);
      const count = typeof chosen === "number" ? chosen : chosen.length;
      // A selection may contain a row twice, so it may be longer than the number of rows.
      reserve(count);
      const { buffer } = kernel.memory;
      let list = 0;
      if (typeof chosen !== "number") {
        for (const row of chosen) if (row >= capacity) checkRow(row);
        new Uint32Array(buffer, selection, count).set(chosen);
        list = selection;
      }
      new Float32Array(buffer, floatQuery, dimension).set(vector);
      if (format === "float32") {
        kernel.scoreFloatRows(floatQuery, rows, width, list, count, scores);
      } else {
        kernel.quantiseRows(floatQuery, 1, width, limit, query, queryScale);
        const factor = new Float32Array(buffer, queryScale, 1)[0] ?? 0;
        kernel.scoreByteRows(query, factor, rows, scales, width, list, count, scores);
      }
      return new Float32Array(buffer, scores, count);
    },
  };
}
