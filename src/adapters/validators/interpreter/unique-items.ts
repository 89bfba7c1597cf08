import { canonicalJson } from "../../../tool/canonical-json.ts";

/** The places of two equal items, the later one first; undefined where all differ. In linear time, whatever the items are. */
export function findDuplicate(items: readonly unknown[]): readonly [number, number] | undefined {
  const seen = new Map<unknown, number>();
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    const key = keyOf(item);
    const before = seen.get(key);
    if (before !== undefined) return [index, before];
    seen.set(key, index);
  }
  return undefined;
}

/** Numbers and the like are their own keys. The letter in front keeps a text from being taken for the object whose JSON it is. */
function keyOf(item: unknown): unknown {
  if (typeof item === "string") return `s${item}`;
  return typeof item === "object" && item !== null ? `o${canonicalJson(item)}` : item;
}

/** What is said of two equal items. */
export function duplicates([later, earlier]: readonly [number, number]): string {
  return `must NOT have duplicate items (items ## ${earlier} and ${later} are identical)`;
}
