import { canonicalJson } from "../../tool/canonical-json.ts";
import { sha256 as toSha256 } from "../../tool/crypto.ts";
import type { AuditedArguments } from "../audit.port.ts";
import { redactValue } from "../redaction/redact-value.ts";

/** Deeper, longer or wider arguments are described this far. */
const MAX_DEPTH = 6;
const MAX_MEMBERS = 64;

/** What the audit keeps of a call's arguments: `shape` keeps names and types, `full` the arguments, redacted. */
export function describeArguments(
  args: Readonly<Record<string, unknown>>,
  mode: "shape" | "full",
  redact: (text: string) => string,
): AuditedArguments {
  const text = canonicalJson(args);
  const sha256 = toSha256(text);
  if (mode === "shape") return { sha256, shape: shapeOf(args, 0, redact) };
  // Read back from the text that was hashed: what the handler does to its arguments later is not what was asked for.
  return { sha256, value: redactValue<unknown>(JSON.parse(text), redact) };
}

function shapeOf(value: unknown, depth: number, redact: (text: string) => string): unknown {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  if (depth === MAX_DEPTH) return Array.isArray(value) ? "array" : "object";
  if (Array.isArray(value)) {
    // The kinds of element there are, each once, however long the list.
    const shapes = new Map<string, unknown>();
    for (const element of value.slice(0, MAX_MEMBERS)) {
      const shape = shapeOf(element, depth + 1, redact);
      shapes.set(JSON.stringify(shape), shape);
    }
    return [...shapes.values()];
  }
  const members = Object.entries(value);
  const shape = members
    .slice(0, MAX_MEMBERS)
    .map(([key, member]) => [redact(key), shapeOf(member, depth + 1, redact)] as const);
  const more = members.length - MAX_MEMBERS;
  return Object.fromEntries(more > 0 ? [...shape, ["…", `${more} more`]] : shape);
}
