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

/** What statistics need of a tool, as its record keeps it. Terms are separated by spaces. */
export interface About {
  readonly terms: string;
  readonly other: string;
  readonly namespace: string;
  /** Terms in each field. */
  readonly lengths: readonly number[];
}

/** How long fields usually are. The weights stored with a tool decide whether it is looked at, and cannot depend on the other tools. */
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

/** The id of a record about something: a UUID, which every database takes. */
export function recordId(about: string): string {
  const hex = createHash("sha256").update(about).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The id of a tool's record. Its tombstone has the same one. */
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
  const about: About = {
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

/** Takes the place of a tool that was deleted, so that others learn of it. */
export function tombstone(id: string, revision: number): NewRecord {
  return plain(toolRecordId(id), { kind: "gone", key: toValue(id) }, revision, id);
}

/** One of a tool's vectors, with everything that filters look at. */
export function vectorRecord(tool: Tool, nth: number, vector: Float32Array): NewRecord {
  const [key, hash] = [toValue(tool.id), toValue(tool.contentHash)];
  const fields = { ...filterFields(tool), kind: "vector", key, hash, nth: String(nth) };
  return { ...plain(vectorRecordId(tool.id, nth), fields, 0, ""), lists: filterLists(tool), vector };
}

/** A record of the engine's own. */
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
