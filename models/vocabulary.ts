/**
 * Chooses the tokens that ship: `node models/vocabulary.ts --shared SHARED --base BASE`.
 *
 * Writes src/adapters/embedders/wordpiece/vocabulary.txt: the tokens of BASE's tokenizer, in its order, that a tool or a request of the sets for
 * training and checking has, those of the tokenizer's golden texts, the markers, and every letter, digit and sign of ASCII, so that any English
 * word still has tokens. `export.py` then keeps the rows of these tokens.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createWordPiece } from "../src/adapters/embedders/wordpiece/wordpiece.ts";
import { TOKEN_LIMITS } from "../src/adapters/embedders/shipped-files.ts";
import { toolTexts } from "../src/catalog/tool-text.ts";
import type { SourceDraft } from "../src/tool/draft.ts";
import { normaliseTool } from "../src/tool/normalise/normalise-tool.ts";
import { lines } from "./catalog-draws.ts";
import { readTokens } from "./kept-tokens.ts";

const { values } = parseArgs({ options: { shared: { type: "string" }, base: { type: "string" } } });
if (values.shared === undefined || values.base === undefined) throw new Error("Give --shared and --base.");
const wordpiece = new URL("../src/adapters/embedders/wordpiece/", import.meta.url);
const tokens = readTokens(values.base);
const { encode } = createWordPiece(tokens.join("\n"));
const used = new Set<number>(tokens.keys().filter((id) => /^(?:\[(?:PAD|UNK|CLS|SEP|MASK)\]|(?:##)?[!-~])$/u.test(tokens[id] ?? "")));

function read(text: string, maxTokens: number): void {
  for (const id of encode(text, { maxTokens })) used.add(id);
}

interface ToolLine {
  readonly id: string;
  readonly name?: string;
  readonly namespace?: string | null;
}
interface RequestLine {
  readonly query: string;
  readonly history?: readonly string[];
  readonly twin?: string;
}
function readTool({ id, name, namespace, ...fields }: ToolLine): void {
  const draft = { ...fields, name: name ?? id, namespace: namespace || "default" } as SourceDraft;
  const tool = normaliseTool(draft, { source: "descriptor", namespace: "default", taken: () => false });
  for (const text of toolTexts(tool)) read(text, TOKEN_LIMITS.tool);
}
function readRequest({ query, history = [], twin = "" }: RequestLine): void {
  for (const text of [query, twin, ...history]) read(text, TOKEN_LIMITS.query);
}

for (const kind of ["eval", "corpora"]) {
  for (const set of readdirSync(join(values.shared, kind))) {
    const [tools, requests] = ["tools", "queries"].map((name) => join(values.shared ?? "", kind, set, `${name}.jsonl`));
    if (tools !== undefined && existsSync(tools)) lines<ToolLine>(tools).forEach(readTool);
    if (requests !== undefined && existsSync(requests)) lines<RequestLine>(requests).forEach(readRequest);
  }
}
const data = join(import.meta.dirname, "data");
for (const file of readdirSync(data).filter((name) => name.endsWith(".jsonl"))) for (const line of lines<RequestLine>(join(data, file))) readRequest(line);
for (const { text } of JSON.parse(readFileSync(new URL("golden.json", wordpiece), "utf8")) as readonly { readonly text: string }[]) read(text, TOKEN_LIMITS.query);

const kept = tokens.filter((_, id) => used.has(id));
writeFileSync(new URL("vocabulary.txt", wordpiece), kept.map((token) => `${token}\n`).join(""));
console.log(`${kept.length} of ${tokens.length} tokens`);
