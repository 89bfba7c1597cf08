import { messageOf } from "../../../errors/show-value.ts";
import type { Redaction } from "../../../guard/policy.port.ts";
import { REDACTED } from "../../../guard/redaction/secret-patterns.ts";
import { re2 } from "../../re2.ts";
import { createPauses, nextTurn } from "../../../base/turns/event-loop.ts";
import { mapMembers } from "../../../tool/json/map-members.ts";
import { replaceInThread } from "./redaction-thread.ts";

/** Returns the problem of a redaction's text; undefined if it is valid. */
export function redactionProblem(text: string): string | undefined {
  const source = patternOf(text);
  if (source === undefined) return text.split(".").includes("") ? `"${text}" is a path with an empty part` : undefined;
  try {
    const pattern = re2().compile(source);
    return pattern.test("") ? `${text} matches the empty text, and so every text` : undefined;
  } catch (error) {
    return `${text} is not a valid pattern: ${messageOf(error)}`;
  }
}

/** Creates a redaction from its text: a path into the result (`*` any one key, `**` any depth), or an RE2 pattern between slashes. */
export function createRedaction(text: string): Redaction {
  const source = patternOf(text);
  if (source === undefined) {
    const path = text.split(".");
    return { text, apply: (value) => redactPath(value, path) };
  }
  const pattern = re2().compile(source);
  const replace = (held: string): string => pattern.matcher(held).replaceAll(REDACTED);
  return {
    text,
    apply: (value) => mapTexts(value, replace),
    async applyLarge(value) {
      const texts: string[] = [];
      mapTexts(value, (held) => (texts.push(held), held));
      const pause = createPauses();
      for (const [place, held] of texts.entries()) {
        const pausing = pause();
        if (pausing !== undefined) await pausing;
        texts[place] = held.length > LONG ? await replaceInThread(source, held) : replace(held);
      }
      await nextTurn();
      // The texts are visited in the same order again.
      let place = 0;
      return mapTexts(value, (held) => texts[place++] ?? held);
    },
  };
}

/** In characters. Searching a longer text takes many milliseconds. */
const LONG = 16 * 1024;

function patternOf(text: string): string | undefined {
  return text.length > 2 && text.startsWith("/") && text.endsWith("/") ? text.slice(1, -1) : undefined;
}

/** Redacts the values at the path, starting with segment `at`. */
function redactPath(value: unknown, path: readonly string[], at = 0): unknown {
  const step = path[at];
  if (step === undefined) return REDACTED;
  if (step === "**") {
    return mapMembers(redactPath(value, path, at + 1), (member) => redactPath(member, path, at));
  }
  return mapMembers(value, (member, key) =>
    step === "*" || step === String(key) ? redactPath(member, path, at + 1) : member,
  );
}

/** Replaces texts, but not keys, so the result keeps its structure. */
function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  return mapMembers(value, (member) => mapTexts(member, replace));
}
