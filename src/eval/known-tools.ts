import { toolFields } from "../catalog/tool-text.ts";
import { nameKey, tokenize } from "../catalog/lexical/tokenize.ts";
import type { Tool } from "../tool/tool.ts";

/** A tool of the set as registered in the arsenal, and its words. */
export interface KnownTool {
  readonly id: string;
  readonly name: string;
  /** The name for messages: the id, followed by the name unless the id contains it. */
  readonly label: string;
  readonly tool: Tool;
  /** Every term of every field, with its spelling in the field. */
  readonly terms: ReadonlyMap<string, string>;
}

/** Returns the tools of a set by their ids from the file. */
export function knownTools(tools: readonly Tool[]): ReadonlyMap<string, KnownTool> {
  return new Map(
    tools.map((tool) => {
      const id = String(tool.sourceMeta["setId"]);
      const name = tool.sourceName || tool.name;
      const terms = wordsOf(Object.values(toolFields(tool)).join("\n"));
      return [id, { id, name, label: labelOf({ id, name }), tool, terms }];
    }),
  );
}

/** Returns the meaningful words of a text, each once, in order. */
export function wordsOf(text: string): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const { term, word } of tokenize(text)) if (!words.has(term)) words.set(term, word);
  return words;
}

/** Formats words as `“refund”, “money”`. */
export function quoted(words: readonly string[]): string {
  return words.map((word) => `“${word}”`).join(", ");
}

/** Formats a tool as `process_refund (refund)`, or as its id if that contains the name. */
export function labelOf({ id, name = "" }: { readonly id: string; readonly name?: string }): string {
  return nameKey(id).includes(nameKey(name)) ? id : `${name} (${id})`;
}
