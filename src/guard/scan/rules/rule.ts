import type { FindingCategory, Place } from "../finding.ts";
import type { Severity } from "../severity.ts";
import { marks } from "./phrases.ts";

/** Something to look for in a text. */
export interface Rule {
  /** `category.name`, as findings, settings and SARIF name it. */
  readonly id: string;
  readonly category: FindingCategory;
  readonly severity: Severity;
  /** Where it applies. Everywhere where absent. */
  readonly places?: readonly Place[];
  /** What a finding means, for a person. */
  readonly message: string;
  /** Where the text has it. Takes time in proportion to the text. */
  readonly find: Search;
}

/** A stretch of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Looks for something; undefined where it is not there. */
export type Search = (text: RuleText) => Span | undefined;

/** A text that rules read: without hidden characters, full-width and typographic forms folded. What one rule looked up, the next need not. */
export interface RuleText {
  readonly text: string;
  /** Every place a word or phrase stands, in order. The expression has the flag `g`. */
  all(expression: RegExp): readonly Span[];
}

/** Prepares a text for rules. */
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

/** Not `matchAll`, which copies the expression: for a short text that takes longer than the search. */
function every(text: string, expression: RegExp): readonly Span[] {
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

/** Anything the expression matches. */
export function pattern(expression: RegExp): Search {
  return (text) => text.all(expression)[0];
}

/** Like `pattern`, where the words just before do not forbid it: "never send your key to …". */
export function allowed(expression: RegExp): Search {
  return unforbidden((text) => text.all(expression));
}

/** The first of what was found that the words just before do not forbid. */
export function unforbidden(search: (text: RuleText) => readonly Span[]): Search {
  return (text) =>
    search(text).find(({ start }) => text.text.slice(Math.max(0, start - 40), start).search(FORBIDS) === -1);
}

const FORBIDDING: readonly string[] = [
  "never",
  "not",
  "\\w+n't",
  "avoid",
  "without",
  "prevents?",
  "blocks?",
  "detects?",
  "forbids?",
  "refuses? to",
  "mitigates?",
  "against",
  "whether",
  "(may|might|can|could) (attempt|try|also|instruct \\w+)",
  "accidentally",
  "potentially",
  "phrases? like",
  "explain the",
];
/** At the end of what stands before, at most three words back. */
const FORBIDS = marks(`\\b(${FORBIDDING.join("|")}) (\\w+ ){0,3}['"\`]?$`);

/** One after another, each beginning at most `within` characters after the one before ended. Returns every chain's whole stretch. */
export function chains(text: RuleText, parts: readonly RegExp[], within: number): readonly Span[] {
  // The rarest part decides most texts: where it is absent nothing else is looked up.
  if (parts.some((part) => text.all(part).length === 0)) return [];
  const [last, ...earlier] = parts.toReversed();
  if (last === undefined) return [];
  let reachable = text.all(last);
  for (const part of earlier) {
    const longer: Span[] = [];
    let next = 0;
    for (const { start, end } of text.all(part)) {
      while (next < reachable.length && (reachable[next]?.start ?? 0) < end) next++;
      const following = reachable[next];
      if (following !== undefined && following.start - end <= within) longer.push({ start, end: following.end });
    }
    reachable = longer;
  }
  return reachable;
}

/** One part after another, close together. */
export function sequence(parts: readonly RegExp[], within: number): Search {
  return (text) => chains(text, parts, within)[0];
}

/** One part after another, close together, where nothing forbids it. */
export function allowedSequence(parts: readonly RegExp[], within: number): Search {
  return unforbidden((text) => chains(text, parts, within));
}

/** Two parts close together, in either order. */
export function near(one: RegExp, other: RegExp, within: number): Search {
  return (text) => chains(text, [one, other], within)[0] ?? chains(text, [other, one], within)[0];
}

/** The first search that finds something. */
export function either(...searches: readonly Search[]): Search {
  return (text) => {
    for (const search of searches) {
      const found = search(text);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}
