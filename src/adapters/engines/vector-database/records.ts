import { createHash } from "node:crypto";
import { measureFields } from "../../../catalog/lexical/bm25f.ts";
import { LEXICAL_FIELDS, type LexicalField } from "../../../catalog/lexical/lexical-fields.ts";
import { toMentionable } from "../../../catalog/lexical/mentions.ts";
import { toolFields } from "../../../catalog/tool-text.ts";
import type { Tool } from "../../../tool/tool.ts";
import { impactOf } from "../judge.ts";
import { toJson } from "../stored-text.ts";
import { readWords, toWord } from "../tool-words.ts";
import { ABSENT, filterFields, filterLists, toValue } from "./conditions.ts";
import { FIELDS, type NewRecord } from "./driver.ts";

/** The stored part of a tool that statistics need. Terms are separated by spaces. */
export interface ToolTerms {
  readonly terms: string;
  readonly other: string;
  readonly namespace: string;
  readonly lengths: readonly number[];
}

/** Typical field lengths. The stored weights only select candidates, and must not depend on other tools. */
const USUAL_LENGTHS: Readonly<Record<LexicalField, number>> = {
  name: 3,
  description: 15,
  tags: 3,
  examples: 15,
  parameterNames: 5,
  parameterDescriptions: 25,
  namespace: 2,
};
const USUAL = measureFields({
  totalLength: LEXICAL_FIELDS.map((field) => USUAL_LENGTHS[field]),
  documentsWith: LEXICAL_FIELDS.map(() => 1),
});

const BLANK = Object.fromEntries(FIELDS.map((field) => [field, ABSENT]));
const NO_WORDS: ReadonlyMap<string, number> = new Map();

/** Returns the id of a record: a UUID, which every database accepts. */
export function recordId(about: string): string {
  const hex = createHash("sha256").update(about).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Returns the id of a tool's record. Its tombstone has the same id. */
export function toolRecordId(id: string): string {
  return recordId(`tool ${id}`);
}

export function vectorRecordId(id: string, nth: number): string {
  return recordId(`vector ${nth} ${id}`);
}

export function toolRecord(tool: Tool, revision: number): NewRecord {
  const texts = toolFields(tool);
  const own = readWords(texts);
  const { lengths, counts, spellings } = own;
  const { key, otherTerms, namespaceTerms } = toMentionable(texts);
  const [nameKey = "", qualifiedKey = nameKey] = spellings;
  const words = new Map(Array.from(counts.keys(), (term) => [term, impactOf(USUAL, own, term)]));
  const about: ToolTerms = {
    terms: [...counts.keys()].join(" "),
    other: otherTerms.map(toWord).join(" "),
    namespace: namespaceTerms.map(toWord).join(" "),
    lengths: LEXICAL_FIELDS.map((_, field) => lengths[field] ?? 0),
  };
  const fields = {
    ...filterFields(tool),
    kind: "tool",
    key: toValue(tool.id),
    hash: toValue(tool.contentHash),
    nameKey: nameKey === "" ? ABSENT : toValue(nameKey),
    qualifiedKey: qualifiedKey === "" ? ABSENT : toValue(qualifiedKey),
    mention: key === undefined ? ABSENT : toValue(key),
  };
  const record = plain(toolRecordId(tool.id), fields, revision, toJson(tool));
  return { ...record, lists: filterLists(tool), about: JSON.stringify(about), words };
}

/** Creates the record that replaces a deleted tool, so other processes notice the deletion. */
export function tombstone(id: string, revision: number): NewRecord {
  return plain(toolRecordId(id), { kind: "gone", key: toValue(id) }, revision, id);
}

/** Creates the record of one of a tool's vectors, with the fields that filters read. */
export function vectorRecord(tool: Tool, nth: number, vector: Float32Array): NewRecord {
  const [key, hash] = [toValue(tool.id), toValue(tool.contentHash)];
  const fields = { ...filterFields(tool), kind: "vector", key, hash, nth: String(nth) };
  return { ...plain(vectorRecordId(tool.id, nth), fields, 0, ""), lists: filterLists(tool), vector };
}

export function plain(id: string, fields: Readonly<Record<string, string>>, revision: number, text: string): NewRecord {
  return {
    id,
    revision,
    fields: { ...BLANK, ...fields },
    lists: { tags: [], capabilities: [] },
    about: "",
    text,
    words: NO_WORDS,
  };
}
