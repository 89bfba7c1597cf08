import type { Redaction } from "../../guard/policy.port.ts";
import { createPauses, nextTurn } from "../../base/turns/event-loop.ts";
import { countKeys } from "../../base/json/json-text.ts";
import { mapMembers } from "../../tool/json/map-members.ts";

/** JSON texts may contain JSON texts. This many layers are parsed. */
const MAX_LAYERS = 4;

/** Deeper values are converted to plain data through JSON text. */
const MAX_DEPTH = 100;

/** Larger results would block the event loop. They are withheld if a rule requires redaction. */
const MAX_VALUES = 500_000;
const MAX_TEXT_VALUES = 200_000;
const MAX_TEXT_MEMBERS = 50_000;

/**
 * Removes the redacted values from a result. Returns the same value if there is nothing to remove. Paths apply to the result, to the structured
 * content of an MCP result, and to every text that is JSON. Converts other values to plain data first, and throws if that fails.
 */
export function redactResult(value: unknown, redactions: readonly Redaction[] = []): unknown {
  if (redactions.length === 0) return value;
  return redactions.reduce((redacted, redaction) => redact(redacted, redaction, 0), toPlain(value));
}

/** Applies one redaction to a large result. Yields to the event loop in between. */
export async function redactLarge(value: unknown, redaction: Redaction): Promise<unknown> {
  await nextTurn();
  const plain = toPlain(value);
  await nextTurn();
  return redactInTurns(plain, redaction, 0);
}

async function redactInTurns(value: unknown, redaction: Redaction, layer: number): Promise<unknown> {
  const redacted = redaction.applyLarge === undefined ? redaction.apply(value) : await redaction.applyLarge(value);
  await nextTurn();
  // Each JSON text and each structured content is redacted once.
  const tops = new Map<unknown, unknown>();
  withinTexts(redacted, layer, (top) => (tops.set(top, top), top));
  if (tops.size === 0) return redacted;
  const pause = createPauses();
  for (const top of tops.keys()) {
    const pausing = pause();
    if (pausing !== undefined) await pausing;
    tops.set(
      top,
      typeof top === "string"
        ? await redactLargeJson(top, redaction, layer)
        : await redactInTurns(top, redaction, layer + 1),
    );
  }
  await nextTurn();
  return withinTexts(redacted, layer, (top) => tops.get(top));
}

async function redactLargeJson(text: string, redaction: Redaction, layer: number): Promise<string> {
  const held = parse(text);
  if (held === undefined) return text;
  const redacted = await redactInTurns(held.value, redaction, layer + 1);
  return redacted === held.value ? text : JSON.stringify(redacted);
}

function redact(value: unknown, redaction: Redaction, layer: number): unknown {
  return withinTexts(redaction.apply(value), layer, (top) =>
    typeof top === "string" ? redactJson(top, redaction, layer) : redact(top, redaction, layer + 1),
  );
}

/** Replaces the values that paths start from: JSON texts and structured content. */
function withinTexts(value: unknown, layer: number, replace: (top: unknown) => unknown): unknown {
  const isTop = layer < MAX_LAYERS;
  const within = (each: unknown): unknown => {
    if (typeof each === "string") return isTop && /^\s*[[{]/.test(each) ? replace(each) : each;
    return mapMembers(each, change);
  };
  const change = (member: unknown, key: string | number): unknown =>
    key === "structuredContent" && isTop ? replace(member) : within(member);
  return within(value);
}

function redactJson(text: string, redaction: Redaction, layer: number): string {
  const held = parse(text);
  if (held === undefined) return text;
  const redacted = redact(held.value, redaction, layer + 1);
  return redacted === held.value ? text : JSON.stringify(redacted);
}

/** Parses a text as JSON. Returns undefined if it is not JSON. Throws if parsing would take long. */
function parse(text: string): { readonly value: unknown } | undefined {
  if (text.length > MAX_TEXT_VALUES && countKeys(text, Infinity, MAX_TEXT_VALUES, MAX_TEXT_MEMBERS) < 0)
    throw new Error(`a text in it is JSON with more than ${MAX_TEXT_VALUES} elements or ${MAX_TEXT_MEMBERS} members`);
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Converts a value to plain JSON data. Returns the same value if it is plain data already. */
function toPlain(value: unknown): unknown {
  if (isPlainData(value, 0, { left: MAX_VALUES })) return value;
  const text: string | undefined = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}

function isPlainData(value: unknown, depth: number, budget: { left: number }): boolean {
  if (--budget.left < 0) throw new Error(`it has more than ${MAX_VALUES} members and elements`);
  if (typeof value !== "object" || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((member) => isPlainData(member, depth + 1, budget));
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype !== null && prototype !== Object.prototype) || "toJSON" in value) return false;
  return Object.values(value).every((member) => isPlainData(member, depth + 1, budget));
}
