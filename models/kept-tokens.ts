import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The tokens of a folder's tokenizer.json, in the order of their numbers. */
export function readTokens(folder: string): readonly string[] {
  const { model } = JSON.parse(readFileSync(join(folder, "tokenizer.json"), "utf8")) as {
    readonly model: { readonly vocab: Readonly<Record<string, number>> };
  };
  return Object.entries(model.vocab)
    .toSorted(([, one], [, other]) => one - other)
    .map(([token]) => token);
}

/** The numbers that the shipped tokens have in a folder's tokenizer: the rows of its weights that belong to the shipped vocabulary. */
export function keptTokens(folder: string): readonly number[] {
  const numbers = new Map(readTokens(folder).map((token, number) => [token, number]));
  const shipped = readFileSync(new URL("../src/adapters/embedders/wordpiece/vocabulary.txt", import.meta.url), "utf8");
  return shipped.split("\n").flatMap((token) => (token === "" ? [] : (numbers.get(token) ?? [])));
}

/** Reads the rows of an int8 table by number. */
export function int8Rows(table: Int8Array, width: number): (row: number) => Int8Array {
  return (row) => table.subarray(row * width, (row + 1) * width);
}

/** The given rows of a table, one after the other. */
export function pickRows<Table extends Int8Array | Uint8Array | Float32Array>(table: Table, width: number, rows: readonly number[]): Table {
  const picked = table.slice(0, rows.length * width) as Table;
  rows.forEach((row, at) => picked.set(table.subarray(row * width, (row + 1) * width), at * width));
  return picked;
}
