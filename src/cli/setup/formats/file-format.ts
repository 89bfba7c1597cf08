import { isDeepStrictEqual } from "node:util";
import { fixable } from "../../../errors/arsenal-error.ts";
import { asRecord, isPlainObject } from "../../../tool/json-schema.ts";
import type { ServerEntry } from "../entry-styles.ts";

/** An entry that replaces others. */
export interface Replacement {
  /** The keys that lead to the servers. */
  readonly path: readonly string[];
  readonly removed: ReadonlySet<string>;
  readonly name: string;
  readonly entry: ServerEntry;
}

export interface FileFormat {
  /** Parses a file. Throws with the position and the problem. */
  parse(text: string, file: string): Promise<unknown>;
  /** Replaces entries with one entry. Every byte outside the removed entries stays. */
  replace(text: string, file: string, replacement: Replacement): Promise<string>;
}

/** Returns the entries below these keys, by name. Entries of a list have a `name`. Returns undefined if there are none. */
export function entriesAt(root: unknown, path: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  const block = path.reduce<unknown>((value, key) => asRecord(value)[key], root);
  if (isPlainObject(block)) return block;
  if (!Array.isArray(block)) return undefined;
  const named = block.flatMap((item) => {
    const { name } = asRecord(item);
    return typeof name === "string" ? [[name, item as unknown] as const] : [];
  });
  return Object.fromEntries(named);
}

/** Replaces entries, and parses the result to verify it. Refuses an edit that also changes other content. */
export async function replaceEntries(
  format: FileFormat,
  text: string,
  file: string,
  replacement: Replacement,
): Promise<string> {
  const { path, removed, name } = replacement;
  const edited = await format.replace(text, file, replacement);
  const [before, after] = [await format.parse(text, file), await format.parse(edited, file)];
  const { [name]: own, ...rest } = entriesAt(after, path) ?? {};
  const kept = Object.entries(entriesAt(before, path) ?? {}).filter(([key]) => !removed.has(key) && key !== name);
  const isRight = own !== undefined && isDeepStrictEqual(rest, Object.fromEntries(kept));
  if (isRight && isDeepStrictEqual(without(before, path), without(after, path))) return edited;
  const fix =
    "Write each server as a block of its own, as the client does, and run setup again; or add the entry by hand.";
  throw fixable("INPUT_INVALID", `${file} is written in a way that setup cannot edit.`, fix, { field: path.join(".") });
}

/** Returns the value without the part below these keys. */
function without(value: unknown, [key = "", ...rest]: readonly string[]): unknown {
  const { [key]: member, ...others } = asRecord(value);
  return rest.length === 0 ? others : { ...others, [key]: without(member, rest) };
}
