import type { AnyValue, KeyValue } from "./otlp.ts";

/** A value that an attribute can have; undefined leaves the attribute out. */
export type AttributeValue = string | number | boolean | readonly string[] | undefined;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** How large attributes may be. */
export interface AttributeLimits {
  /** Characters of one text. */
  readonly maxLength: number;
  /** Attributes of one span or record, and texts of one list. */
  readonly maxCount: number;
}

/** Attributes within the limits, and how many were left out. Returns the same object when nothing changed. */
export function withinLimits(
  attributes: Attributes,
  { maxLength, maxCount }: AttributeLimits,
): { readonly attributes: Attributes; readonly dropped: number } {
  let count = 0;
  let isLong = false;
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    count++;
    if (typeof value === "object" || (typeof value === "string" && value.length > maxLength)) isLong = true;
  }
  if (count <= maxCount && !isLong) return { attributes, dropped: 0 };
  const kept = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const cut = (value: AttributeValue): AttributeValue => {
    if (typeof value === "string") return clip(value, maxLength);
    return typeof value === "object" ? value.slice(0, maxCount).map((text) => clip(text, maxLength)) : value;
  };
  return {
    attributes: Object.fromEntries(kept.slice(0, maxCount).map(([key, value]) => [key, cut(value)])),
    dropped: Math.max(0, count - maxCount),
  };
}

/** Attributes as OTLP has them, within the limits, and how many were left out. */
export function toKeyValues(
  given: Attributes,
  limits: AttributeLimits,
): { readonly attributes: readonly KeyValue[]; readonly droppedAttributesCount?: number } {
  const { attributes, dropped } = withinLimits(given, limits);
  const pairs = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toAnyValue(value) }],
  );
  return dropped === 0 ? { attributes: pairs } : { attributes: pairs, droppedAttributesCount: dropped };
}

function toAnyValue(value: NonNullable<AttributeValue>): AnyValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((text) => ({ stringValue: text })) } };
}

/** The beginning of a text, without a half character at its end. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // A copy: a slice would keep the whole text in memory.
  return Buffer.from(text.slice(0, maxLength).toWellFormed()).toString();
}
