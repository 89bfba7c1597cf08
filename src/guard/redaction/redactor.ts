import { createFormIndex, formsOf, type FormMatches, MIN_SECRET_LENGTH } from "./form-index.ts";
import { redactValue } from "./redact-value.ts";
import { findPatterns, hasHint, REDACTED } from "./secret-patterns.ts";
import { hasEscapes, unescapeOnce } from "./unescaped.ts";

/** Redacts secrets in output and stored data: known secrets in any form, and text that looks like a credential. */
export interface Redactor {
  /** Adds a known secret. Returns false, and does not redact it, if it is shorter than six characters: ordinary words would contain it. */
  add(secret: string): boolean;
  text(text: string): string;
  /** Redacts every text in plain data, including member names. Returns the same object if nothing changed. */
  value<Value>(value: Value): Value;
  /** Redacts an error's message, stack, details and causes in place. Returns a new error of the same class if it cannot be changed in place. */
  error<Thrown>(error: Thrown): Thrown;
  /** Redacts a stream of text. A tail that could begin a secret is redacted immediately, because output cannot be retracted. */
  stream(): (part: string) => string;
  /** Redacts known secrets only, for results that must otherwise stay unchanged: a tool may legitimately return a user's token. */
  readonly known: {
    value<Value>(value: Value): Value;
  };
}

const MAX_LAYERS = 4;

/** In longer texts, escapes are undone once. Undoing them four times in many megabytes would stall the process. */
const LONG_TEXT = 1_000_000;

/** The most clean member names to remember, and the longest. The same names recur in most values, so each is searched once. */
const MAX_NAMES = 1000;
const LONGEST_NAME = 64;

/** The longest tail that may begin a secret but is too short to redact: three characters, each escaped several times. */
const KEPT = 64;

/** Creates a redactor without known secrets. It recognises credentials by their form. */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  const forms = createFormIndex();

  /** Searches the text, then the unescaped text, and repeats that. */
  function find(
    text: string,
    { unfinished = false, patterns = true }: Search,
    layers = text.length > LONG_TEXT ? 1 : MAX_LAYERS,
  ): FormMatches {
    const { spans: found, open } = forms.find(text, unfinished);
    const spans = patterns ? [...found, ...findPatterns(text)] : found;
    const plainer = layers === 0 ? undefined : unescapeOnce(text, unfinished);
    if (plainer === undefined) return { spans, open };
    const within = find(plainer.text, { unfinished, patterns }, layers - 1);
    const places = within.spans.map((place, index) =>
      index % 2 === 0 ? plainer.startOf(place) : plainer.endOf(place),
    );
    const isOpen = within.open < plainer.text.length;
    return { spans: [...spans, ...places], open: isOpen ? Math.min(open, plainer.startOf(within.open)) : open };
  }

  const redactText = (given: string, search: Search): string => {
    // Most texts are ids and names, and many are shorter than any secret.
    if (given.length < MIN_SECRET_LENGTH) return given;
    // Most texts are clean, and this quick check proves it for most of them.
    if (!forms.mayFind(given) && !hasEscapes(given) && !(search.patterns !== false && hasHint(given))) return given;
    const { spans } = find(given, search);
    return spans.length === 0 ? given : masked(given, spans, 0);
  };
  const text = (given: string): string => redactText(given, ANYTHING);
  const knownText = (given: string): string => redactText(given, KNOWN_ONLY);
  const cleanNames = new Set<string>();
  const name = (given: string): string => {
    if (cleanNames.has(given)) return given;
    const shown = text(given);
    if (shown === given && given.length <= LONGEST_NAME && cleanNames.size < MAX_NAMES) cleanNames.add(given);
    return shown;
  };

  return {
    add(secret) {
      if (secret.length < MIN_SECRET_LENGTH) return false;
      if (known.has(secret)) return true;
      known.add(secret);
      cleanNames.clear();
      for (const form of formsOf(secret)) forms.add(form);
      return true;
    },
    text,
    value: (value) => redactValue(value, text, { redactName: name }),
    error: (error) => redactValue(error, text),
    stream() {
      let before = "";
      return (part) => {
        const whole = before + part;
        const { spans, open } = find(whole, { unfinished: true });
        const shown = masked(whole, spans, before.length);
        before = whole.slice(Math.max(0, Math.min(open, whole.length - KEPT)));
        return shown;
      };
    },
    known: { value: (value) => (known.size === 0 ? value : redactValue(value, knownText, { keepShape: true })) },
  };
}

interface Search {
  /** True if the text may continue: its end may begin a secret or an escape. */
  readonly unfinished?: boolean;
  /** True also redacts text that only looks like a credential. */
  readonly patterns?: boolean;
}

const ANYTHING: Search = {};
const KNOWN_ONLY: Search = { patterns: false };

/** Returns the text from an index on, with the spans masked. Merges overlapping spans. An earlier span is masked from the index on. */
function masked(text: string, spans: readonly number[], from: number): string {
  const starts = Array.from({ length: spans.length / 2 }, (_, index) => 2 * index);
  const at = (index: number): number => spans[index] ?? 0;
  if (starts.some((index) => index > 0 && at(index) < at(index - 2))) starts.sort((one, other) => at(one) - at(other));
  let shown = "";
  let place = from;
  for (const index of starts) {
    const [start, end] = [at(index), at(index + 1)];
    if (end <= place) continue;
    // An overlapping span was already masked.
    if (start >= place || shown === "") shown += text.slice(place, start) + REDACTED;
    place = end;
  }
  return shown + text.slice(place);
}
