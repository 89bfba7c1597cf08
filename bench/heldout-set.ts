/**
 * Writes the held-out servers as a set for `toolarsenal eval`: `node bench/heldout-set.ts --shared ../shared --out .borrowed/heldout`, then
 * `npx toolarsenal eval --tools .borrowed/heldout/tools.jsonl --queries .borrowed/heldout/queries.jsonl`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type RequestLine, heldOutServers, lines } from "../models/catalog-draws.ts";

const { values: options } = parseArgs({
  options: { shared: { type: "string", default: "../shared" }, out: { type: "string", default: ".borrowed/heldout" } },
});
const set = join(options.shared, "eval/toucan-paraphrase");
const held = heldOutServers(options.shared);
const tools = lines<{ readonly id: string; readonly namespace: string }>(join(set, "tools.jsonl")).filter(
  ({ namespace }) => held.has(namespace),
);
const known = new Set(tools.map(({ id }) => id));
const data = (name: string): readonly RequestLine[] =>
  lines<RequestLine>(join(import.meta.dirname, "../models/data", name));
const queries = [
  ...[...lines<RequestLine>(join(set, "queries.jsonl")), ...data("heldout-styles.jsonl")].filter(
    ({ relevant }) => relevant.length > 0 && relevant.every((id) => known.has(id)),
  ),
  ...data("heldout-impossible.jsonl"),
];
mkdirSync(options.out, { recursive: true });
const write = (name: string, rows: readonly unknown[]): void =>
  writeFileSync(join(options.out, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
write("tools.jsonl", tools);
write("queries.jsonl", queries);
console.log(`${options.out}: ${tools.length} tools, ${queries.length} queries`);
