import { createFormIndex, type Found } from "./form-index.ts";
import { redactValue } from "./redact-value.ts";
import { formsOf, MIN_SECRET_LENGTH } from "./secret-forms.ts";
import { findPatterns, REDACTED } from "./secret-patterns.ts";
import { unescapeOnce } from "./unescaped.ts";

/** Takes secrets out of whatever is shown or kept: those it was told of, in any form, and what looks like one. */
export interface Redactor {
  /** Makes a secret known. False for one of fewer than six characters, which is left alone: ordinary words would hold it. */
  add(secret: string): boolean;
  text(text: string): string;
  /** Plain data with every text in it redacted, names of members too; the same data where there is nothing to take out. */
  value<Value>(value: Value): Value;
  /** The same error, with message, stack, details and causes redacted in place; another of its class where it cannot be changed. */
  error<Thrown>(error: Thrown): Thrown;
  /**
   * Redacts the parts of one text as they come. A known secret may lie in several: what could be the beginning of one at a part's end is
   * taken out at once, since a part that was shown cannot be taken back, and the rest with the parts that follow.
   */
  stream(): (part: string) => string;
}

/** Escapes in escapes are undone this often. */
const MAX_LAYERS = 4;

/** What a secret may begin with and is too little to take out: three characters, each of them escaped several times. */
const KEPT = 64;

/** A redactor that knows no secret yet, only what they look like. */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  const forms = createFormIndex();

  /** Looks into the text, into what is left of it when escapes are undone, and so on. */
  function find(text: string, unfinished: boolean, layers = MAX_LAYERS): Found {
    const { spans: told, open } = forms.find(text, unfinished);
    const alike = findPatterns(text);
    const spans = alike.length === 0 ? told : [...told, ...alike];
    const plainer = layers === 0 ? undefined : unescapeOnce(text, unfinished);
    if (plainer === undefined) return { spans, open };
    const within = find(plainer.text, unfinished, layers - 1);
    const places = within.spans.map((place, index) =>
      index % 2 === 0 ? plainer.startOf(place) : plainer.endOf(place),
    );
    return { spans: [...spans, ...places], open: Math.min(open, plainer.startOf(within.open)) };
  }

  const text = (given: string): string => {
    // Nearly all of what is shown is ids and names, many of them shorter than any secret.
    if (given.length < MIN_SECRET_LENGTH) return given;
    const { spans } = find(given, false);
    return spans.length === 0 ? given : masked(given, spans, 0);
  };

  return {
    add(secret) {
      if (secret.length < MIN_SECRET_LENGTH) return false;
      if (known.has(secret)) return true;
      known.add(secret);
      for (const form of formsOf(secret)) forms.add(form);
      return true;
    },
    text,
    value: (value) => redactValue(value, text),
    error: (error) => redactValue(error, text),
    stream() {
      let before = "";
      return (part) => {
        const whole = before + part;
        const { spans, open } = find(whole, true);
        const shown = masked(whole, spans, before.length);
        before = whole.slice(Math.max(0, Math.min(open, whole.length - KEPT)));
        return shown;
      };
    },
  };
}

/** The text from a place on, with the spans masked, those that overlap as one. One that began before that place is masked as far as it goes on. */
function masked(text: string, spans: readonly number[], from: number): string {
  const ordered = Array.from({ length: spans.length / 2 }, (_, index) => spans.slice(2 * index, 2 * index + 2));
  ordered.sort(([one = 0], [other = 0]) => one - other);
  let shown = "";
  let place = from;
  for (const [start = 0, end = 0] of ordered) {
    if (end <= place) continue;
    // What overlaps with the one before is masked with it.
    if (start >= place || shown === "") shown += text.slice(place, start) + REDACTED;
    place = end;
  }
  return shown + text.slice(place);
}
