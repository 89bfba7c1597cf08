/** The value of an attribute. Undefined attributes are omitted. */
export type AttributeValue = string | number | boolean | readonly string[] | undefined;
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface AttributeLimits {
  readonly maxLength: number;
  /** The most attributes of one span or record, and the most texts of one list. */
  readonly maxCount: number;
}

/** Returns the attributes within the limits, and the number of omitted ones. Returns the same object if nothing changed. */
export function withinLimits(
  attributes: Attributes,
  { maxLength, maxCount }: AttributeLimits,
): { readonly attributes: Attributes; readonly droppedAttributesCount: number | undefined } {
  let count = 0;
  let isLong = false;
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    count++;
    if (typeof value === "object" || (typeof value === "string" && value.length > maxLength)) isLong = true;
  }
  if (count <= maxCount && !isLong) return { attributes, droppedAttributesCount: undefined };
  const kept = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const cut = (value: AttributeValue): AttributeValue => {
    if (typeof value === "string") return clip(value, maxLength);
    return typeof value === "object" ? value.slice(0, maxCount).map((text) => clip(text, maxLength)) : value;
  };
  return {
    attributes: Object.fromEntries(kept.slice(0, maxCount).map(([key, value]) => [key, cut(value)])),
    droppedAttributesCount: count > maxCount ? count - maxCount : undefined,
  };
}

/** Cuts a text without splitting a character. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Copied, because a slice would keep the whole text in memory.
  return Buffer.from(text.slice(0, maxLength).toWellFormed()).toString();
}
