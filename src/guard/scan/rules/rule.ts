import type { FindingCategory, TextPlace, Severity } from "../finding.ts";

export interface Rule {
  /** `category.name`, as in findings, settings and SARIF. */
  readonly id: string;
  readonly category: FindingCategory;
  readonly severity: Severity;
  /** The kinds of text that the rule applies to. Defaults to all. */
  readonly places?: readonly TextPlace[];
  /** The explanation of a finding, for a person. */
  readonly message: string;
  /** Returns the first match; undefined if there is none. Takes linear time. */
  find(text: RuleText): Span | undefined;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text prepared for rules: without hidden characters, and with full-width and typographic characters made plain. Rules share lookups. */
export interface RuleText {
  readonly text: string;
  /** Returns every match, in order. The expression has the flag `g`. */
  all(expression: RegExp): readonly Span[];
}

export function toRuleText(text: string): RuleText {
  const known = new Map<RegExp, readonly Span[]>();
  return {
    text,
    all(expression) {
      let spans = known.get(expression);
      if (spans === undefined) {
        spans = every(text, expression);
        known.set(expression, spans);
      }
      return spans;
    },
  };
}

/** Avoids `matchAll`, which copies the expression. For a short text, the copy takes longer than the search. */
function every(text: string, expression: RegExp): readonly Span[] {
  if (!compiled.has(expression)) {
    expression.test(LONG_TEXT);
    compiled.add(expression);
  }
  expression.lastIndex = 0;
  let match = expression.exec(text);
  if (match === null) return NONE;
  const spans: Span[] = [];
  for (; match !== null; match = expression.exec(text)) {
    const { index, 0: found } = match;
    spans.push({ start: index, end: index + found.length });
    if (found === "") expression.lastIndex++;
  }
  return spans;
}

const NONE: readonly Span[] = Object.freeze([]);

/**
 * V8 compiles an expression for its interpreter first, which takes three times as long as compiling it to machine code. A search of a text of at least
 * 1,000 characters compiles it to machine code at once.
 */
const LONG_TEXT = ".".repeat(1000);
const compiled = new WeakSet<RegExp>();

const FORBIDDING =
  "never|not|\\w+n't|avoid|without|(?:prevent|block|detect|forbid|mitigate)s?|refuses?\\sto|against|whether|" +
  "(?:may|might|can|could)\\s(?:attempt|try|also|instruct\\s\\w+)|accidentally|potentially|phrases?\\slike|explain\\sthe";
/** Matches a prohibition at the end of the preceding text, at most three words back. */
const FORBIDS = new RegExp(`\\b(?:${FORBIDDING})\\s{1,8}(?:\\w+\\s{1,8}){0,3}['"\`]?$`, "i");

/** Returns false if the preceding words forbid the match or only mention it, as in "never send your key to …". */
export function isMeant({ text }: RuleText, { start }: Span): boolean {
  return !FORBIDS.test(text.slice(Math.max(0, start - 40), start));
}

/** Returns the spans in which each step begins within its distance after the end of the previous step. */
export function chains(text: RuleText, steps: readonly RegExp[], distances: readonly number[]): readonly Span[] {
  // One missing step rules out a match, so most texts need no further search.
  if (steps.some((step) => text.all(step).length === 0)) return NONE;
  return steps
    .map((step) => text.all(step))
    .reduceRight((following, spans, index) => followed(spans, following, distances[index] ?? 0));
}

/** Joins each span to the next following span that begins at most `within` characters later. */
function followed(spans: readonly Span[], following: readonly Span[], within: number): readonly Span[] {
  const joined: Span[] = [];
  let index = 0;
  for (const { start, end } of spans) {
    while (index < following.length && (following[index]?.start ?? 0) < end) index++;
    const next = following[index];
    if (next !== undefined && next.start - end <= within) joined.push({ start, end: next.end });
  }
  return joined;
}
