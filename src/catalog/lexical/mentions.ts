import { splitWords } from "../../tool/split-words.ts";
import type { EngineAnswer } from "../catalog-engine.port.ts";
import type { FieldTexts } from "./lexical-fields.ts";
import { nameKey, tokenize } from "./tokenize.ts";

/** A tool's namespace, and the texts that can mention it. */
export interface MentionTexts {
  readonly namespace: string;
  readonly texts: Pick<FieldTexts, "name" | "description" | "namespace">;
}

export interface MentionsImage {
  readonly names: Map<string, string[]>;
  readonly namespaces: Map<string, Map<string, number>>;
  readonly others: Map<string, number>;
}

type MentionedTool = ReturnType<typeof toMentionable> & { readonly namespace: string };

/** A name of one word, such as "search", is too common to identify a tool. */
const LEAST_NAME_WORDS = 2;
const MOST_NAME_WORDS = 6;
/** A word in the names of more namespaces than this, or in the texts of more other tools, identifies no namespace. */
export const MOST_NAMESPACES = 2;
export const MOST_OTHER_TOOLS = 10;
const LEAST_LENGTH = 3;
const READ_LENGTH = 2000;
const NON_ASCII = /\P{ASCII}/u;

export type Mentions = ReturnType<typeof createMentions>;

/** Finds the tools and namespaces that a request names. */
export function createMentions() {
  const known = new Map<string, MentionedTool>();
  let idsByName: MentionsImage["names"] = new Map();
  let textsOf: (id: string) => MentionTexts | undefined = () => undefined;
  /** For each word in a namespace's name, the namespaces with that word and the number of their tools. */
  let namespacesByTerm: MentionsImage["namespaces"] = new Map();
  let otherTools: MentionsImage["others"] = new Map();

  function count(tool: MentionedTool, by: 1 | -1): void {
    for (const term of tool.otherTerms) bump(otherTools, term, by);
    for (const term of tool.namespaceTerms) {
      let namespaces = namespacesByTerm.get(term);
      if (!namespaces) namespacesByTerm.set(term, (namespaces = new Map<string, number>()));
      bump(namespaces, tool.namespace, by);
      if (namespaces.size === 0) namespacesByTerm.delete(term);
    }
  }

  function remove(id: string): void {
    const tool = known.get(id) ?? restored(id);
    if (!tool) return;
    known.delete(id);
    count(tool, -1);
    if (tool.key === undefined) return;
    const others = (idsByName.get(tool.key) ?? []).filter((other) => other !== id);
    if (others.length > 0) idsByName.set(tool.key, others);
    else idsByName.delete(tool.key);
  }

  function restored(id: string): MentionedTool | undefined {
    const found = textsOf(id);
    return found && { namespace: found.namespace, ...toMentionable(found.texts) };
  }

  return {
    upsert(id: string, namespace: string, texts: MentionTexts["texts"]): void {
      remove(id);
      const tool = { namespace, ...toMentionable(texts) };
      known.set(id, tool);
      count(tool, 1);
      if (tool.key === undefined) return;
      const sharing = idsByName.get(tool.key);
      if (sharing) sharing.push(id);
      else idsByName.set(tool.key, [id]);
    },

    remove,

    /** Returns the complete content, to be copied immediately and restored later. */
    save: (): MentionsImage => ({ names: idsByName, namespaces: namespacesByTerm, others: otherTools }),

    /** Restores a saved image. `given` returns the texts of a restored tool, and is called before the tool is removed or replaced. */
    restore(image: MentionsImage, given: typeof textsOf): void {
      textsOf = given;
      ({ names: idsByName, namespaces: namespacesByTerm, others: otherTools } = image);
    },

    /** Finds the tools and namespaces that a request names: tools by their complete name, namespaces by a word that few others use. */
    find(text: string): EngineAnswer["named"] {
      const { names, terms } = readMentions(text);
      const tools = new Set<string>();
      for (const key of names) for (const id of idsByName.get(key) ?? []) tools.add(id);
      const namespaces = new Set<string>();
      for (const term of terms) {
        const having = namespacesByTerm.get(term);
        if (!having || having.size > MOST_NAMESPACES || (otherTools.get(term) ?? 0) > MOST_OTHER_TOOLS) continue;
        for (const namespace of having.keys()) namespaces.add(namespace);
      }
      return { tools, namespaces };
    },
  };
}

/** Extracts the names of a tool from its texts. */
export function toMentionable(texts: MentionTexts["texts"]) {
  const words = splitWords(texts.name).length;
  const namespaceTerms = termsOf(texts.namespace);
  const own = new Set(namespaceTerms);
  const others = termsOf(`${texts.name}\n${texts.description.slice(0, READ_LENGTH)}`);
  return {
    /** The key of the complete name; undefined if the name is too short or too long. */
    key: words >= LEAST_NAME_WORDS && words <= MOST_NAME_WORDS ? nameKey(texts.name) : undefined,
    namespaceTerms,
    /** Words of the tool's texts that are not in its namespace's name. */
    otherTerms: others.filter((term) => !own.has(term)),
  };
}

/** Extracts the keys of names and the words of namespaces that a request may mention. */
export function readMentions(text: string): { readonly names: Iterable<string>; readonly terms: readonly string[] } {
  const read = text.slice(0, READ_LENGTH);
  return { names: runsOfWords(read), terms: termsOf(read) };
}

/** Returns the distinct informative words of a text. Omits numbers and very short words, because they are too common. */
function termsOf(text: string): readonly string[] {
  return [
    ...new Set(
      tokenize(text).flatMap(({ word, term }) => (word.length < LEAST_LENGTH || /^\d+$/.test(word) ? [] : [term])),
    ),
  ];
}

function* runsOfWords(text: string): IterableIterator<string> {
  const words = splitWords(text);
  for (let start = 0; start < words.length; start++) {
    let joined = "";
    for (let length = 1; length <= MOST_NAME_WORDS && start + length <= words.length; length++) {
      joined += words[start + length - 1] ?? "";
      if (length < LEAST_NAME_WORDS) continue;
      // Plain words need no normalisation; accents and similar characters do.
      yield NON_ASCII.test(joined) ? nameKey(joined) : joined;
    }
  }
}

function bump<Key>(counts: Map<Key, number>, key: Key, by: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + by;
  if (next > 0) counts.set(key, next);
  else counts.delete(key);
}
