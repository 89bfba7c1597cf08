import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { DEFAULT_NAMESPACE } from "../../tool/limits.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";
import { keywordOf } from "./intent.ts";
import { type ConversationContext, messageText } from "../query.ts";
import { isContentless, wordsOf } from "./words.ts";

/** The mentions of tools in a conversation. Computed once per query. */
export type ConversationView = ReturnType<typeof readConversation>;

/** Returns the tools that a conversation used, if the caller may see them. */
export async function usedTools(
  { toolsAlreadyUsed }: ConversationContext,
  engine: Pick<CatalogEngine, "list">,
  visible: ToolFilter,
  signal: AbortSignal | undefined,
): Promise<readonly Tool[]> {
  const names = [...toNames(toolsAlreadyUsed)];
  if (names.length === 0) return [];
  const filter = { all: [{ any: [{ ids: names }, { names }] }, visible] };
  return (await engine.list({ filter, ...(signal ? { signal } : {}) })).tools;
}

/** Reads a conversation, except the current request, which the search itself covers. */
export function readConversation(context: ConversationContext, usedBefore: readonly Tool[]) {
  const used = toNames(context.toolsAlreadyUsed);
  const failed = toNames(context.toolsFailed);
  const mentions = createMentions([
    ...(context.recentMessages ?? []).map(messageText),
    context.conversationSummary ?? "",
  ]);
  const namespaces = new Set(usedBefore.map(({ namespace }) => namespace));
  const isIn = ({ id, name, sourceName }: Tool, names: ReadonlySet<string>): boolean =>
    names.has(id) || names.has(name) || names.has(sourceName);

  return {
    /** Returns whether recent messages or the summary contain the tool's id, its name, or the words of its name in sequence. */
    names: (tool: Tool): boolean => mentions(tool.id) || (mentions(tool.name) && isTelling(tool.name)),
    /** Returns whether the conversation names the namespace, or used one of its tools. */
    isAbout: (namespace: string): boolean => (namespaces.has(namespace) || mentions(namespace)) && isTelling(namespace),
    used: (tool: Tool): boolean => isIn(tool, used),
    failed: (tool: Tool): boolean => isIn(tool, failed),
  };
}

/** Returns names without their version: `mail.send:1.0.0` becomes `mail.send`. */
function toNames(given: readonly string[] = []): ReadonlySet<string> {
  return new Set(given.map((name) => name.replace(/:[^:]*$/, "")));
}

/** Returns false for names that any conversation may contain, such as `search` or `get`, and for the default namespace. */
function isTelling(name: string): boolean {
  const words = wordsOf(name);
  return words.length > 1 || (name !== DEFAULT_NAMESPACE && !isContentless(name) && keywordOf(name) === undefined);
}

/** Returns a function that checks whether a text contains the words of a name in sequence. */
function createMentions(texts: readonly string[]): (name: string) => boolean {
  const lines = texts.map((text) => ` ${wordsOf(text).join(" ")} `).filter((line) => line.length > 2);
  if (lines.length === 0) return () => false;
  const vocabulary = new Set(lines.flatMap((line) => line.split(" ")));
  return (name) => {
    const words = wordsOf(name);
    if (words.length === 0 || !words.every((word) => vocabulary.has(word))) return false;
    const phrase = ` ${words.join(" ")} `;
    return lines.some((line) => line.includes(phrase));
  };
}
