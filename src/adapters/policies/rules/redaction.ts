import { messageOf } from "../../../errors/show-value.ts";
import type { RE2JS } from "re2js";
import type { Redaction } from "../../../guard/policy.port.ts";
import { REDACTED } from "../../../guard/redaction/secret-patterns.ts";
import { re2 } from "../../re2.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";

/** What is wrong with a redaction as it is written; undefined if nothing is. */
export function redactionProblem(text: string): string | undefined {
  const source = patternOf(text);
  if (source === undefined) return text.split(".").includes("") ? `"${text}" is a path with an empty part` : undefined;
  try {
    const pattern = re2().compile(source);
    return pattern.test("") ? `${text} matches the empty text, so everything` : undefined;
  } catch (error) {
    return `${text} is not a valid pattern: ${messageOf(error)}`;
  }
}

/** A redaction from its text: a path into the result (`*` any one key, `**` any depth), or an RE2 pattern between slashes. */
export function createRedaction(text: string): Redaction {
  const source = patternOf(text);
  if (source === undefined) {
    const path = text.split(".");
    return { text, apply: (value) => redactPath(value, path) };
  }
  const pattern = re2().compile(source);
  return { text, apply: (value) => redactTexts(value, pattern) };
}

function patternOf(text: string): string | undefined {
  return text.length > 2 && text.startsWith("/") && text.endsWith("/") ? text.slice(1, -1) : undefined;
}

function redactPath(value: unknown, path: readonly string[]): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return REDACTED;
  if (step === "**") {
    return mapMembers(redactPath(value, rest), (member) => redactPath(member, path));
  }
  return mapMembers(value, (member, key) => (step === "*" || step === key ? redactPath(member, rest) : member));
}

/** Keys stay as they are, so that the result keeps its form. */
function redactTexts(value: unknown, pattern: RE2JS): unknown {
  if (typeof value === "string") return pattern.matcher(value).replaceAll(REDACTED);
  return mapMembers(value, (member) => redactTexts(member, pattern));
}

/** The value with its members changed; itself where none was, or where it has none. */
function mapMembers(value: unknown, change: (member: unknown, key: string) => unknown): unknown {
  if (Array.isArray(value)) {
    const changed = value.map((member, index) => change(member, String(index)));
    return changed.some((member, index) => member !== value[index]) ? changed : value;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  const changed = entries.map(([key, member]) => [key, change(member, key)] as const);
  return changed.some(([, member], index) => member !== entries[index]?.[1]) ? Object.fromEntries(changed) : value;
}
