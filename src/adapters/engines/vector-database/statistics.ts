import type { FieldLengths } from "../../../catalog/lexical/bm25f.ts";
import { LEXICAL_FIELDS } from "../../../catalog/lexical/lexical-fields.ts";
import { MOST_NAMESPACES } from "../../../catalog/lexical/mentions.ts";
import type { Condition } from "./conditions.ts";
import type { Control } from "./control.ts";
import type { ToolTerms } from "./records.ts";
import { everyRecord, type Session, TOOLS } from "./session.ts";

/** Word counts of the catalog, which determine the weights of words. Their size grows with the vocabulary, not with the number of tools. */
export interface Statistics extends FieldLengths {
  readonly population: number;
  readonly documents: ReadonlyMap<string, number>;
  /** The number of tools with a term outside the namespace's name. */
  readonly others: ReadonlyMap<string, number>;
  /** The namespaces whose name contains a word, if there are few. */
  readonly namespacesOf: ReadonlyMap<string, ReadonlySet<string>>;
  readonly namespaces: number;
}

/** Up to this many tools, statistics follow every change. */
const ALWAYS_EXACT = 2_000;
/** With more tools, statistics are read again after this share of the tools has changed. */
const CHANGED_SHARE = 0.01;

/** Reads statistics on demand, and caches them until enough tools have changed. */
export function createStatistics(): (session: Session, control: Control) => Promise<Statistics> {
  let kept: { readonly value: Promise<Statistics>; readonly revision: number; keys: Set<string> } | undefined;
  return async (session, { toolsKey, revision }) => {
    if (kept?.keys.has(toolsKey)) return kept.value;
    const before = await kept?.value.catch(() => undefined);
    if (before && kept && before.population > ALWAYS_EXACT) {
      const changed: Condition = {
        all: [{ field: "kind", in: ["tool", "gone"] }, { revisionAbove: kept.revision }],
      };
      if ((await session.count(session.tools, changed)) <= CHANGED_SHARE * before.population) {
        kept.keys.add(toolsKey);
        return before;
      }
    }
    if (kept?.keys.has(toolsKey)) return kept.value;
    const value = readStatistics(session);
    const mine = (kept = { value, revision, keys: new Set([toolsKey]) });
    value.catch(() => {
      if (kept === mine) kept = undefined;
    });
    return value;
  };
}

async function readStatistics(session: Session): Promise<Statistics> {
  const documents = new Map<string, number>();
  const others = new Map<string, number>();
  const namespacesOf = new Map<string, Set<string>>();
  const namespaces = new Set<string>();
  const totalLength = LEXICAL_FIELDS.map(() => 0);
  const documentsWith = LEXICAL_FIELDS.map(() => 0);
  let population = 0;
  for await (const { fields, about = "" } of everyRecord(session, session.tools, TOOLS, ["about"])) {
    const { terms, other, namespace, lengths } = JSON.parse(about) as ToolTerms;
    const { namespace: own = "" } = fields;
    population++;
    namespaces.add(own);
    for (const term of split(terms)) documents.set(term, (documents.get(term) ?? 0) + 1);
    for (const term of split(other)) others.set(term, (others.get(term) ?? 0) + 1);
    for (const term of split(namespace)) {
      const having = namespacesOf.get(term) ?? new Set();
      // A set above the limit marks a term as too common.
      if (having.size <= MOST_NAMESPACES) namespacesOf.set(term, having.add(own));
    }
    lengths.forEach((length, field) => {
      totalLength[field] = (totalLength[field] ?? 0) + length;
      if (length > 0) documentsWith[field] = (documentsWith[field] ?? 0) + 1;
    });
  }
  return { population, documents, others, namespacesOf, namespaces: namespaces.size, totalLength, documentsWith };
}

function split(terms: string): readonly string[] {
  return terms === "" ? [] : terms.split(" ");
}
