import { canonicalJson } from "../../tool/json/canonical-json.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Definition } from "./definition.ts";
import { disguises, styledWords } from "../scan/hidden/lookalikes.ts";
import { escapedUnit, visibleText } from "../../errors/visible-text.ts";

const MAX_PLACES = 40;
const MAX_SHOWN = 2_000;
/** The bounds of a whole diff. A source may send any amount of text, which a page must still be able to display. */
const WHOLE_PLACES = 2_000;
const WHOLE_SHOWN = 200_000;
const CONTEXT = 40;

/**
 * Formats the differences of two definitions, three lines each: the path, `-` and the old value, `+` and the new value. Hidden characters are
 * visible. Shows the first 40 differences and excerpts of long texts, or everything with `whole`.
 */
export function diffLines(before: Definition, after: Definition, { whole = false } = {}): readonly string[] {
  const places = placesOf(before, after);
  const most = whole ? WHOLE_PLACES : MAX_PLACES;
  const lines = places.slice(0, most).flatMap((place) => linesOf(place, whole));
  const more = places.length - most;
  return more > 0 ? [...lines, `… and ${more} more places`] : lines;
}

/** The common fields. Other field names come from the source, so they must not reach the model through a refusal. */
const FIELDS = ["name", "title", "description", "instructions", "server", "annotations", "inputSchema", "outputSchema", "parameters", "returns", "command", "args", "cwd", "env"]; // prettier-ignore

/** Lists the changed fields of a definition on one line. */
export function changedFields(before: Definition, after: Definition): string {
  const fields = placesOf(before, after).map(({ path: [field = ""] }) =>
    FIELDS.includes(field) ? field : "other fields of its source",
  );
  return [...new Set(fields)].join(", ");
}

interface FieldChange {
  readonly path: readonly string[];
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The common fields come first, so that other changes cannot push them out of sight. */
function placesOf(before: Definition, after: Definition): readonly FieldChange[] {
  const places: FieldChange[] = [];
  compare([], before, after, places);
  return places.sort((one, other) => rankOf(one) - rankOf(other));
}

function rankOf({ path: [field = ""] }: FieldChange): number {
  const rank = FIELDS.indexOf(field);
  return rank < 0 ? FIELDS.length : rank;
}

function compare(path: readonly string[], before: unknown, after: unknown, places: FieldChange[]): void {
  if (!isPlainObject(before) || !isPlainObject(after)) {
    if (canonicalJson(before) !== canonicalJson(after)) places.push({ path, before, after });
    return;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const inner = [...path, name];
    if (!Object.hasOwn(before, name)) places.push({ path: inner, after: after[name] });
    else if (!Object.hasOwn(after, name)) places.push({ path: inner, before: before[name] });
    else compare(inner, before[name], after[name], places);
  }
}

const PLAIN_NAME = /^[\p{L}\p{N}_$-]+$/u;

function linesOf(place: FieldChange, whole: boolean): readonly string[] {
  const [before, after] = excerpts(place, whole);
  return [
    // A name that is ambiguous in a path is written as JSON.
    shown(
      place.path.map((name) => (PLAIN_NAME.test(name) ? name : JSON.stringify(name))).join("."),
      unmistakableText,
      MAX_SHOWN,
    ),
    ...(before === undefined ? [] : [`- ${before}`]),
    ...(after === undefined ? [] : [`+ ${after}`]),
  ];
}

/** Returns both sides for display: for long texts the part that differs, and for lookalike texts their code points. */
function excerpts(
  { before, after }: FieldChange,
  whole: boolean,
): readonly [before: string | undefined, after: string | undefined] {
  const most = whole ? WHOLE_SHOWN : MAX_SHOWN;
  if (before === undefined || after === undefined) return [alone(before, most), alone(after, most)];
  const areTexts = typeof before === "string" && typeof after === "string";
  const [one, other] = areTexts ? [before, after] : [canonicalJson(before), canonicalJson(after)];
  const [start, end] = common(one, other);
  const [here, there] = [excerpt(one, start, end), excerpt(other, start, end)];
  const show = lookAlike(here, there) ? escapedText : unmistakableText;
  return whole
    ? [shown(one, show, most), shown(other, show, most)]
    : [shown(here, show, most), shown(there, show, most)];
}

function alone(value: unknown, most: number): string | undefined {
  if (value === undefined) return undefined;
  return shown(typeof value === "string" ? value : canonicalJson(value), unmistakableText, most);
}

/** Returns whether two texts could look the same. That is possible if every difference pairs an ASCII letter with a non-ASCII letter. */
function lookAlike(one: string, other: string): boolean {
  const letters = lettersOf(other);
  const isAlike = (letter: string, at = ""): boolean => letter === at || letter <= "\x7F" !== at <= "\x7F";
  const ours = lettersOf(one);
  return ours.length === letters.length && ours.every((letter, index) => isAlike(letter, letters[index]));
}

function lettersOf(text: string): readonly string[] {
  return Array.from(shown(text, unmistakableText, MAX_SHOWN).normalize("NFKC"));
}

/** Returns the number of characters that two texts share at their start, and then at their end. */
function common(before: string, after: string): readonly [start: number, end: number] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [start, end];
}

function excerpt(text: string, start: number, end: number): string {
  const from = Math.max(0, start - CONTEXT);
  const to = Math.min(text.length, text.length - end + CONTEXT);
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}

/** Returns the displayed part of a text. The rest is not processed, because a source may send any amount of text. */
function shown(text: string, show: (text: string) => string, most: number): string {
  const left = text.length - most;
  return left > 0 ? `${show(text.slice(0, most))}… (${left} more characters)` : show(text);
}

/** Formats a text on one line, with hidden characters and lookalike letters as JSON escapes. */
function unmistakableText(text: string): string {
  let result = text;
  const passing = [...disguises(text), ...styledWords(text)].sort((one, other) => other.start - one.start);
  for (const { start, word } of passing)
    result = result.slice(0, start) + escapedText(word) + result.slice(start + word.length);
  return visibleText(result);
}

/** Escapes the backslash and everything beyond ASCII, for two texts that look the same. */
function escapedText(text: string): string {
  return visibleText(text.replaceAll(/[^\0-\x7F]|\\/g, escapedUnit));
}
