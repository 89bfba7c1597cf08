import { createFormIndex } from "./form-index.ts";
import { redactError } from "./redact-error.ts";
import { redactValue } from "./redact-value.ts";
import { formsOf } from "./secret-forms.ts";
import { REDACTED, redactPatterns } from "./secret-patterns.ts";

/** Takes secrets out of whatever is shown or kept: those it was told of, in any form, and what looks like one. */
export interface Redactor {
  /** Makes a secret known. False for one of fewer than six characters, which is left alone: ordinary words would hold it. */
  add(secret: string): boolean;
  text(text: string): string;
  /** Plain data with every text in it redacted, names of members too; the same data where there is nothing to take out. */
  value<Value>(value: Value): Value;
  /** The same error, with message, stack, details and causes redacted in place. */
  error<Thrown>(error: Thrown): Thrown;
  /**
   * Redacts the parts of one text as they come. A known secret may lie in several: what could be the beginning of one at a part's end is
   * taken out at once, since a part that was shown cannot be taken back, and the rest with the parts that follow.
   */
  stream(): (part: string) => string;
}

/** Shorter secrets are parts of ordinary words. */
export const MIN_SECRET_LENGTH = 6;

/** A redactor that knows no secret yet, only what they look like. */
export function createRedactor(): Redactor {
  const known = new Set<string>();
  const forms = createFormIndex();

  const text = (given: string): string => {
    // Nearly all of what is shown is ids and names, many of them shorter than any secret.
    if (given.length < MIN_SECRET_LENGTH) return given;
    const spans = forms.find(given);
    return redactPatterns(spans === undefined ? given : masked(given, spans, 0));
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
    error: (error) => redactError(error, text),
    stream() {
      let before = "";
      return (part) => {
        const whole = before + part;
        const spans = forms.find(whole, { unfinished: true });
        const shown = masked(whole, spans ?? [], before.length);
        before = forms.reach === 0 ? "" : whole.slice(-forms.reach);
        return redactPatterns(shown);
      };
    },
  };
}

/** The text from a place on, with the spans in it masked. One that began before that place is masked as far as it goes on. */
function masked(text: string, spans: readonly number[], from: number): string {
  let shown = "";
  let place = from;
  for (let index = 0; index < spans.length; index += 2) {
    const start = spans[index] ?? 0;
    const end = spans[index + 1] ?? 0;
    if (end <= from) continue;
    shown += text.slice(place, Math.max(start, from)) + REDACTED;
    place = end;
  }
  return shown + text.slice(place);
}
