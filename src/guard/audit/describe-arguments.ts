import { canonicalJson } from "../../tool/json/canonical-json.ts";
import { sha256 as toSha256 } from "../../base/crypto.ts";
import type { AuditedArguments } from "../audit.port.ts";
import { redactValue } from "../redaction/redact-value.ts";

const MAX_DEPTH = 6;
const MAX_MEMBERS = 64;
/** The most members and elements in total, so that a record stays small. */
const MAX_SHAPE = 1_000;
const MAX_KEY = 200;

/** Longer arguments are stored as hash and shape, even if `full` is configured, so that one call cannot fill the log. */
const MAX_FULL = 128 * 1024;

/** Describes a call's arguments for its record: `shape` keeps names and types, `full` the arguments, redacted. */
export function describeArguments(
  args: Readonly<Record<string, unknown>>,
  mode: "shape" | "full",
  redact: (text: string) => string,
): AuditedArguments {
  const text = canonicalJson(args);
  const sha256 = toSha256(text);
  if (mode === "shape" || text.length > MAX_FULL) return { sha256, shape: createShaper(redact)(args, 0) };
  // Parsed from the hashed text, because a handler may later change the arguments.
  return { sha256, value: redactValue<unknown>(JSON.parse(text), redact) };
}

function createShaper(redact: (text: string) => string) {
  let left = MAX_SHAPE;
  return shapeOf;

  function shapeOf(value: unknown, depth: number): unknown {
    left--;
    if (value === null) return "null";
    if (typeof value !== "object") return typeof value;
    if (depth === MAX_DEPTH || left <= 0) return Array.isArray(value) ? "array" : "object";
    if (Array.isArray(value)) {
      // Lists each element shape once, however long the array is.
      const shapes = new Map<string, unknown>();
      for (const element of value.slice(0, Math.min(MAX_MEMBERS, left))) {
        const shape = shapeOf(element, depth + 1);
        shapes.set(JSON.stringify(shape), shape);
      }
      return [...shapes.values()];
    }
    const members = Object.entries(value);
    const shown = Math.min(members.length, MAX_MEMBERS, left);
    const shape = members
      .slice(0, shown)
      .map(([key, member]) => [redact(cut(key)), shapeOf(member, depth + 1)] as const);
    const more = members.length - shown;
    return Object.fromEntries(more > 0 ? [...shape, ["…", `${more} more`]] : shape);
  }
}

function cut(key: string): string {
  return key.length <= MAX_KEY ? key : `${key.slice(0, MAX_KEY)}…`;
}
