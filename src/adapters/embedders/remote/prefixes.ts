import { type InputsOf, schema } from "../../../tool/shape/shape.ts";
import type { Prefixes } from "./remote-embedder.ts";

/** Prefix settings. Some models were trained with a prefix, which these providers do not add themselves. */
export const PREFIX_SETTINGS = {
  queryPrefix: schema<string>({
    description:
      "Text put in front of a request before it is embedded. Defaults to the prefix that the model was trained with, if known.",
    type: "string",
  }),
  toolPrefix: schema<string>({
    description:
      "Text put in front of a tool's text before it is embedded. Defaults to the prefix that the model was trained with, if known.",
    type: "string",
  }),
};

/** The prefix settings of providers that do not add prefixes themselves. */
export type PrefixSettings = InputsOf<typeof PREFIX_SETTINGS>;

const PASSAGE_SEARCH = "Represent this sentence for searching relevant passages: ";

/** Families of models, matched by name, with the prefixes from their model cards. */
const FAMILIES: readonly (readonly [name: RegExp, prefixes: Prefixes])[] = [
  [/\bnomic-embed-text/i, { query: "search_query: ", tool: "search_document: " }],
  [/\be5-(?!.*instruct)/i, { query: "query: ", tool: "passage: " }],
  [/\bbge-(?:small|base|large)-en/i, { query: PASSAGE_SEARCH, tool: "" }],
  [/\bmxbai-embed-large/i, { query: PASSAGE_SEARCH, tool: "" }],
  [/\bembeddinggemma/i, { query: "task: search result | query: ", tool: "title: none | text: " }],
];

export function prefixesOf(model: string, { queryPrefix, toolPrefix }: PrefixSettings): Prefixes {
  const known = FAMILIES.find(([name]) => name.test(model))?.[1];
  return { query: queryPrefix ?? known?.query ?? "", tool: toolPrefix ?? known?.tool ?? "" };
}
