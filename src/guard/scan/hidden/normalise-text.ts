import {
  decodeBits,
  decodeSelectors,
  decodeTags,
  isVariation,
  joinsEmoji,
  NEEDS_JOINER,
  readEscape,
  RIGHT_TO_LEFT,
  SPACELESS,
  TERMINAL_ESCAPE,
} from "./decode-hidden.ts";
import { countCharacters } from "../../../tool/limits.ts";
import { type Disguise, disguises, spelledWithFlags, styledWords } from "./lookalikes.ts";
import { reaches, type Severity } from "../finding.ts";

/** The ways to hide text, or its meaning, from a human reader. */
export const HIDING = {
  tags: "Hides text in Unicode tag characters, which models read and people do not see.",
  selectors: "Hides data in variation selectors.",
  "zero-width": "Has zero-width characters that no language needs there.",
  bidi: "Has controls that show text in another order than it is read.",
  terminal: "Contains terminal control codes, which can hide or replace text.",
  control: "Has control characters that make a terminal show something other than what a model reads.",
  filler: "Has letters that are blank.",
  "soft-hyphen": "Breaks its words with invisible soft hyphens.",
  "private-use": "Has characters without a meaning of their own.",
  "stacked-marks": "Buries its letters under marks.",
  lookalikes: "Spells words with letters of another alphabet that look the same.",
  "styled-letters":
    "Spells words with characters that only look like letters: full-width, mathematical, circled, flags.",
} as const;
export type HidingKind = keyof typeof HIDING;

export interface HiddenText {
  readonly kind: HidingKind;
  readonly severity: Severity;
  /** The start, in UTF-16 code units of the given text. */
  readonly position: number;
  readonly count: number;
  /** The hidden text, if it can be decoded. */
  readonly hidden?: string;
}

/** Ordinary text has no such character and needs no further check. */
const UNUSUAL = /[^\t\n\r\x20-\x7E]|\r(?!\n)/;

/** The flags of England, Scotland, Wales and other subdivisions are this character followed by tag characters. */
const BLACK_FLAG = "\u{1F3F4}";

const CLASSES = {
  flag: String.raw`${BLACK_FLAG}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F}`,
  tags: String.raw`[\u{E0000}-\u{E007F}]+`,
  selectors: String.raw`[\uFE00-\uFE0F\u{E0100}-\u{E01EF}\u180B-\u180D\u180F]+`,
  zeroWidth: String.raw`[\u200B-\u200D\u2060-\u2065\uFEFF\u180E\u034F]+`,
  bidi: String.raw`[\u061C\u200E\u200F\u202A-\u202E\u2066-\u206F]`,
  terminal: TERMINAL_ESCAPE,
  control: String.raw`[\x00-\x08\x0B\x0E-\x1F\x7F-\x84\x86-\x9F\uFFF9-\uFFFB\p{Cs}]+|\r(?!\n)`,
  filler: String.raw`[\u115F\u1160\u3164\uFFA0\u2800\u17B4\u17B5\uFFFC\u{1D173}-\u{1D17A}\u{1BCA0}-\u{1BCA3}]+`,
  softHyphen: String.raw`\u00AD+`,
  privateUse: String.raw`[\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}]+`,
  marks: String.raw`[\u0300-\u034E\u0350-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F]{4,}`,
} as const;

type SuspectClass = keyof typeof CLASSES;
const CLASS_NAMES = Object.keys(CLASSES) as readonly SuspectClass[];

/** One group per class. The groups are unnamed, because named groups are slower. */
const SUSPECT = new RegExp(
  Object.values(CLASSES)
    .map((inside) => `(${inside})`)
    .join("|"),
  "gu",
);

/** Findings of one kind this close together are merged. */
const CLOSE = 16;
const MAX_FINDINGS = 64;
const MAX_HIDDEN = 4096;
/** A text with this many hidden characters hides on purpose: the rest is removed without classifying each character. */
const MAX_JUDGED = 10_000;
/** After this many rounds there are no exceptions, so the last round leaves nothing behind. */
const LENIENT_ROUNDS = 3;

/**
 * Removes text that people do not see but models read, such as tag characters, zero-width characters and terminal codes. Replaces lookalike letters
 * with Latin ones. Keeps characters that languages and emoji need. Idempotent.
 */
export function normaliseText(text: string): { readonly text: string; readonly findings: readonly HiddenText[] } {
  if (!UNUSUAL.test(text)) return { text, findings: [] };
  const findings: HiddenText[] = [];
  let current = sweep(text, true, (found) => add(findings, found));
  // Without the removed text, two characters may now form a sequence.
  for (let round = 1; current.changed; round++) current = sweep(current.text, round < LENIENT_ROUNDS, () => {});
  return { text: current.text, findings };
}

function sweep(text: string, lenient: boolean, report: (found: HiddenText) => void) {
  const written = unveil(text, lenient, report);
  const plain = respell(written, [...disguises(written), ...styledWords(written), ...spelledWithFlags(written)]);
  if (written !== plain) reportDisguises(text, report);
  return { text: plain, changed: plain !== text };
}

function unveil(text: string, lenient: boolean, report: (found: HiddenText) => void): string {
  const context = createContext(text, lenient);
  let plain = "";
  let last = 0;
  let taken = 0;
  for (const match of text.matchAll(SUSPECT)) {
    const start = match.index;
    const [run] = match;
    const found = judge(classOf(match), run, start, context);
    if (found === undefined) continue;
    const { keep = "", ...rest } = found;
    plain += text.slice(last, start) + keep;
    last = start + run.length;
    report({ position: start, count: countCharacters(run), ...rest });
    taken += 1;
    if (taken === MAX_JUDGED) return plain + text.slice(last).replaceAll(SUSPECT, "");
  }
  return plain + text.slice(last);
}

function classOf(match: RegExpExecArray): SuspectClass | undefined {
  for (let group = 1; group < match.length; group += 1) if (match[group] !== undefined) return CLASS_NAMES[group - 1];
  return undefined;
}

type Context = ReturnType<typeof createContext>;

function createContext(text: string, lenient: boolean) {
  let rightToLeft: boolean | undefined;
  let dense: boolean | undefined;
  return {
    text,
    lenient,
    rightToLeft: (): boolean => (rightToLeft ??= RIGHT_TO_LEFT.test(text)),
    denseHyphens: (): boolean => (dense ??= /\u00AD[^\u00AD]{0,3}\u00AD[^\u00AD]{0,3}\u00AD/u.test(text)),
    /** Returns the whole character that ends at the position; empty at the start of the text. */
    before: (position: number): string => Array.from(text.slice(Math.max(0, position - 2), position)).at(-1) ?? "",
    after: (position: number): string => Array.from(text.slice(position, position + 2))[0] ?? "",
  };
}

type Judgement = Pick<HiddenText, "kind" | "severity" | "hidden"> & { readonly keep?: string };

/** Classifies a run of suspect characters; undefined if it may stay. */
function judge(kind: SuspectClass | undefined, run: string, start: number, context: Context): Judgement | undefined {
  switch (kind) {
    case "flag":
      return context.lenient ? undefined : { kind: "tags", severity: "high", keep: BLACK_FLAG };
    case "tags": {
      const hidden = decodeTags(run);
      return { kind: "tags", severity: hidden.length > 2 ? "critical" : "high", ...shown(hidden) };
    }
    case "selectors":
      return judgeSelectors(run, start, context);
    case "zeroWidth":
      return judgeZeroWidth(run, start, context);
    case "bidi":
      return judgeBidi(run, start, context);
    case "terminal": {
      const { effect, hidden } = readEscape(run);
      return { kind: "terminal", severity: effect === "colour" ? "medium" : "high", ...shown(hidden) };
    }
    case "control":
      // A carriage return restarts the line on a terminal, so the text before and after it must not be joined.
      return { kind: "control", severity: "medium", keep: run === "\r" ? "\n" : "" };
    case "filler":
      return judgeFiller(run, start, context);
    case "softHyphen":
      return context.lenient && !context.denseHyphens() ? undefined : { kind: "soft-hyphen", severity: "medium" };
    case "privateUse":
      return { kind: "private-use", severity: Array.from(run).length > 3 ? "medium" : "low" };
    case "marks":
    case undefined:
      return { kind: "stacked-marks", severity: "medium" };
  }
}

function judgeSelectors(run: string, start: number, { lenient, before }: Context): Judgement | undefined {
  const selectors = Array.from(run);
  const base = before(start);
  if (selectors.length === 1) {
    const code = run.codePointAt(0) ?? 0;
    if (lenient && (isVariation(base, code) || (code < 0xfe00 && /\p{Script=Mongolian}/u.test(base)))) return undefined;
    return { kind: "selectors", severity: code >= 0xe0100 ? "medium" : "low" };
  }
  return { kind: "selectors", severity: "high", ...shown(decodeSelectors(run) ?? "") };
}

function judgeZeroWidth(run: string, start: number, { lenient, before, after }: Context): Judgement | undefined {
  const [left, right] = [before(start), after(start + run.length)];
  if (lenient && mayStand(run, start, left, right)) return undefined;
  const inWord = /[\p{L}\p{N}]/u.test(left) && /[\p{L}\p{N}]/u.test(right);
  const severity = run.length >= 8 ? "high" : run.length > 1 || inWord ? "medium" : "low";
  return { kind: "zero-width", severity, ...shown(decodeBits(run) ?? "") };
}

/** Returns true for a single character that its neighbours need, and false for a run of characters. */
function mayStand(character: string, start: number, left: string, right: string): boolean {
  switch (character) {
    case "\u200D":
      return joinsEmoji(left, right) || NEEDS_JOINER.test(left + right);
    case "\u200C":
      return NEEDS_JOINER.test(left + right);
    case "\u200B":
      return SPACELESS.test(left + right);
    case "\u034F":
    case "\u180E":
      return NEEDS_JOINER.test(left);
    case "\u2061":
    case "\u2062":
    case "\u2063":
    case "\u2064":
      // The invisible operators of formulas, such as "times" in 2x.
      return /[\p{N}\p{Sm})]/u.test(left);
    case "\uFEFF":
      return start === 0;
    default:
      return false;
  }
}

function judgeBidi(control: string, start: number, { text, lenient, rightToLeft }: Context): Judgement | undefined {
  const code = control.charCodeAt(0);
  const overrides = code === 0x202d || code === 0x202e;
  if (lenient && !overrides && code < 0x206a && rightToLeft()) return undefined;
  if (code === 0x061c || code === 0x200e || code === 0x200f) return { kind: "bidi", severity: "low" };
  const inside = /^[^\u202A-\u202E\u2066-\u2069\n]{0,2000}/.exec(text.slice(start + 1, start + 2001))?.[0] ?? "";
  const reversed = code === 0x202e ? Array.from(inside).toReversed().join("") : inside;
  if (overrides) return { kind: "bidi", severity: "high", ...shown(reversed) };
  const opens = code === 0x202a || code === 0x202b || (code >= 0x2066 && code <= 0x2068);
  return { kind: "bidi", severity: "medium", ...shown(opens ? inside : "") };
}

function judgeFiller(run: string, start: number, { lenient, before, after }: Context): Judgement | undefined {
  const around = before(start) + after(start + run.length);
  const atHome =
    (/^[\u115F\u1160\uFFA0]$/.test(run) && /\p{Script=Hangul}/u.test(around)) ||
    (/^\u2800+$/.test(run) && /[\u2801-\u28FF]/.test(around)) ||
    (/^[\u17B4\u17B5]$/.test(run) && /\p{Script=Khmer}/u.test(around));
  if (lenient && atHome) return undefined;
  return { kind: "filler", severity: run === "\uFFFC" ? "low" : "medium" };
}

function respell(text: string, words: readonly Disguise[]): string {
  let plain = "";
  let last = 0;
  for (const { start, word, latin } of [...words].sort((one, other) => one.start - other.start)) {
    if (start < last) continue;
    plain += text.slice(last, start) + latin;
    last = start + word.length;
  }
  return plain + text.slice(last);
}

function reportDisguises(text: string, report: (found: HiddenText) => void): void {
  const addAll = (kind: HidingKind, words: readonly Disguise[], least: number): void => {
    let letters = 0;
    for (const { latin } of words) letters += latin.length;
    const severity = letters < least ? "low" : words.length >= 3 ? "high" : "medium";
    for (const { start, word, latin } of words)
      report({ kind, severity, position: start, count: Array.from(word).length, hidden: latin });
  };
  addAll("lookalikes", disguises(text), 0);
  addAll("styled-letters", [...styledWords(text), ...spelledWithFlags(text)], 4);
}

/** Adds a finding, or extends the previous one if they belong together. */
function add(findings: HiddenText[], found: HiddenText): void {
  const index = findings.findLastIndex(({ kind }) => kind === found.kind);
  const before = findings[index];
  const reach = before === undefined ? 0 : before.position + CLOSE * Math.max(1, before.count);
  if (before === undefined || (found.position > reach && findings.length < MAX_FINDINGS)) {
    if (findings.length < MAX_FINDINGS) findings.push(found);
    return;
  }
  const count = before.count + found.count;
  const between = found.kind === "lookalikes" || found.kind === "styled-letters" ? " " : "";
  const { hidden: known = "" } = before;
  const hidden = known.length >= MAX_HIDDEN ? known : [known, found.hidden].join(between).slice(0, MAX_HIDDEN);
  const worse = reaches(found.severity, before.severity) ? found.severity : before.severity;
  // One stray character is an editing mistake; several close together are deliberate.
  const severity = count >= 3 && worse === "low" ? "medium" : worse;
  findings[index] = { ...before, count, severity, ...shown(hidden) };
}

function shown(hidden: string): { readonly hidden?: string } {
  return hidden === "" ? {} : { hidden };
}
