import type { FindingCategory, Severity } from "../finding.ts";
import { chains, isMeant, type Rule, type RuleText, type Span } from "./rule.ts";
import { VOCABULARY } from "./vocabulary.ts";

/**
 * The samples that a rule finds, each with its phrase. No other phrase of the category finds the same sample. A phrase is a regular
 * expression that reads like what it finds, in any case and not in the middle of a word:
 * - a space is any white space, ` ?` is white space or nothing;
 * - ` … ` is up to sixty characters of the same sentence;
 * - `forward~` is also forwards and forwarding; `includ~` is include, includes and including;
 * - `{credentials}` is that list of vocabulary.ts;
 * - a bracket groups and keeps nothing: `(all|any) rules`;
 * - `read >40 password` is a password at most forty characters after "read"; with `<>40` it may also stand before;
 * - a phrase, or a part between steps, that begins with `=` counts capitals;
 * - an empty phrase finds nothing.
 */
export type Phrases = Readonly<Record<string, string>>;

export interface PhraseRule extends Rule {
  readonly phrases: Phrases;
}

/** Creates a rule from phrases. The first part of its id is its category. Ignores phrases that the preceding words forbid: "never send …". */
export function rule(id: string, severity: Severity, message: string, phrases: Phrases): PhraseRule {
  return make(id, severity, message, phrases, isMeant);
}

/** Creates a rule that does not check the words before a phrase. For code, markers, claims, and phrases that forbid something themselves. */
export function always(id: string, severity: Severity, message: string, phrases: Phrases): PhraseRule {
  return make(id, severity, message, phrases, () => true);
}

/** Disables rules for texts that contain a phrase. */
export function unless(phrase: string, rules: readonly PhraseRule[]): readonly PhraseRule[] {
  const exception = toExpression([phrase]);
  return rules.map((each) => ({
    ...each,
    find: (text) => (text.all(exception).length === 0 ? each.find(text) : undefined),
  }));
}

function make(id: string, severity: Severity, message: string, phrases: Phrases, counts: typeof isMeant): PhraseRule {
  const searches = searchesFor(Object.values(phrases).flatMap(inEitherOrder));
  return {
    id,
    // Every id begins with a category, which a test checks.
    category: id.slice(0, id.indexOf(".")) as FindingCategory,
    severity,
    message,
    phrases,
    find(text) {
      for (const search of searches) {
        const found = search(text).find((span) => counts(text, span));
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

function inEitherOrder(phrase: string): readonly string[] {
  const [, one, within, other] = /^(.*) <>(\d+) (.*)$/.exec(phrase) ?? [];
  return one === undefined ? [phrase] : [`${one} >${within} ${other}`, `${other} >${within} ${one}`];
}

const STEP = / >(\d+) /;
const isExact = (phrase: string): boolean => phrase.startsWith("=");

/** Phrases without steps are combined into one expression, so a text is read once. */
function searchesFor(phrases: readonly string[]): readonly ((text: RuleText) => readonly Span[])[] {
  const plain = phrases.filter((phrase) => !STEP.test(phrase));
  const together = [plain.filter(isExact), plain.filter((phrase) => !isExact(phrase))].filter(
    ({ length }) => length > 0,
  );
  const stepwise = phrases.filter((phrase) => STEP.test(phrase)).map((phrase) => phrase.split(STEP));
  return [
    ...together.map(toExpression).map((expression) => (text: RuleText) => text.all(expression)),
    ...stepwise.map((parts) => {
      const steps = parts.filter((_, index) => index % 2 === 0).map(toSharedExpression);
      const distances = parts.filter((_, index) => index % 2 === 1).map(Number);
      return (text: RuleText) => chains(text, steps, distances);
    }),
  ];
}

const shared = new Map<string, RegExp>();

/** Returns the same expression for equal parts of phrases, so that each text is searched for it once. */
function toSharedExpression(part: string): RegExp {
  const expression = shared.get(part) ?? toExpression([part]);
  shared.set(part, expression);
  return expression;
}

/** Combines phrases without steps into one expression. Either all of them or none are case-sensitive. */
export function toExpression(phrases: readonly string[]): RegExp {
  const sources = phrases.map(toSource);
  const words = sources.filter((source) => BEGINS_WORD.test(source)).join("|");
  const marks = sources.filter((source) => !BEGINS_WORD.test(source));
  const either = [...(words === "" ? [] : [String.raw`\b(?:${words})`]), ...marks].join("|");
  return new RegExp(String.raw`(?:${either})(?<!\w\B)`, phrases.every(isExact) ? "g" : "gi");
}

/** Matches an expression that begins with a letter. Its matches must not begin inside a word. */
const BEGINS_WORD = /^(?:\(\?:)*(?:\w|\\[wd])/;

function toSource(phrase: string): string {
  if (phrase === "") return "(?!)";
  return phrase.replace(/^=/, "").replaceAll(TOKEN, (token, list?: string) => {
    const entries = list === undefined ? undefined : VOCABULARY[list];
    return entries === undefined ? (MEANINGS[token] ?? token) : `(?:${toSource(entries)})`;
  });
}

/** Escapes and square brackets are literal. */
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|\{([a-z-]+)\}| … | \?| |\((?!\?)|(?<=[a-z])~/g;

const MEANINGS: Readonly<Record<string, string>> = {
  " … ": String.raw`\b[^.\n]{0,60}\b`,
  " ?": String.raw`\s{0,8}`,
  " ": String.raw`\s{1,8}`,
  "(": "(?:",
  "~": "(?:e?s?|[a-z]?ing)",
};
