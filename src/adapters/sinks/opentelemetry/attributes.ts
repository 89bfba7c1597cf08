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

/** Attributes as OTLP has them, within the limits, and how many were left out. */
export function toKeyValues(
  attributes: Attributes,
  limits: AttributeLimits,
): { readonly attributes: readonly KeyValue[]; readonly droppedAttributesCount?: number } {
  const given: KeyValue[] = [];
  let dropped = 0;
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    if (given.length < limits.maxCount) given.push({ key, value: toAnyValue(value, limits) });
    else dropped++;
  }
  return dropped === 0 ? { attributes: given } : { attributes: given, droppedAttributesCount: dropped };
}

function toAnyValue(value: NonNullable<AttributeValue>, limits: AttributeLimits): AnyValue {
  if (typeof value === "string") return { stringValue: clip(value, limits.maxLength) };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  const values = value.slice(0, limits.maxCount).map((text) => ({ stringValue: clip(text, limits.maxLength) }));
  return { arrayValue: { values } };
}

/** The beginning of a text, without a half character at its end. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // A copy: a slice would keep the whole text in memory.
  return Buffer.from(text.slice(0, maxLength).toWellFormed()).toString();
}
