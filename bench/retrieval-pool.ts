/**
 * Ranks the tools of a set by the formula of the product, with any embedder: words, meaning, clauses, namespaces, names, the conversation
 * and the wishes of a request, over all tools at once.
 */
import { denseScale, type DenseScale } from "../src/retrieve/fuse/calibrate.ts";
import { foldCandidates, fuse, type FusionCandidate } from "../src/retrieve/fuse/fuse.ts";
import { createLexicalIndex } from "../src/catalog/lexical/lexical-index.ts";
import { createMentions } from "../src/catalog/lexical/mentions.ts";
import { createNamespaceVectors } from "../src/catalog/dense/namespace-vectors.ts";
import { toolFields, toolTexts } from "../src/catalog/tool-text.ts";
import { stepsOf } from "../src/retrieve/understand/clauses.ts";
import { foldConversation } from "../src/retrieve/understand/understand.ts";
import { coverClauses } from "../src/retrieve/rank/cover-clauses.ts";
import type { Tool } from "../src/tool/tool.ts";

/** A model as a map of texts to vectors of unit length. */
export interface BenchModel {
  readonly name: string;
  /** The texts from `passagesFrom` on are passages of the first. */
  readonly embed: (texts: readonly string[], kind: "query" | "tool", passagesFrom?: number) => readonly Float32Array[];
  readonly calibrate: (cosine: number) => number;
  /** The weight of meaning against words. */
  readonly share: number;
}

/** A tool with its id in the set. */
export interface PoolTool {
  readonly id: string;
  readonly tool: Tool;
}

/** A request and the turns before it, `role: content`, oldest first. */
export interface PoolRequest {
  readonly query: string;
  readonly history: readonly string[];
}

/** The tools of a set, ready to be ranked. */
export interface Pool {
  /** Ids, best first. */
  rank(request: PoolRequest): readonly string[];
}

/** The meta-tool shows five. */
const SHOWN = 5;
/** The lowest rank at which a wish can find its tool. */
const CONSIDERED = 30;

/** Without a model, tools are ranked by their words. */
export function createPool(tools: readonly PoolTool[], model?: BenchModel): Pool {
  const lexical = createLexicalIndex();
  for (const { id, tool } of tools) lexical.upsert(id, toolFields(tool));
  const ids = tools.map(({ id }) => id);
  if (model === undefined) {
    return { rank: ({ query }) => lexical.search(query, { limit: ids.length }).map(({ id }) => id) };
  }

  const mentions = createMentions();
  const namespaces = createNamespaceVectors();
  const texts = tools.map(({ tool }) => toolTexts(tool));
  const embedded = model.embed(texts.flat(), "tool");
  let next = 0;
  const vectors = texts.map((own) => unit(sum(own.map(() => embedded[next++] ?? new Float32Array()))));
  tools.forEach(({ id, tool }, index) => {
    mentions.upsert(id, tool.namespace, toolFields(tool));
    namespaces.add(tool.namespace, vectors[index] ?? new Float32Array());
  });
  const scale: DenseScale = denseScale(model.calibrate, model.share);

  function rank({ query, history }: PoolRequest): readonly string[] {
    const recentMessages = history.map(toMessage);
    const folded = foldConversation({ query, recentMessages });
    const steps = stepsOf(query);
    const asked = [query, ...(folded ? [folded.text] : []), ...(steps?.clauses ?? [])];
    const [alone = new Float32Array(), ...others] = model?.embed(asked, "query", folded ? 2 : 1) ?? [];
    const inConversation = folded ? others.shift() : undefined;

    const lexicalScores = lexical.scores(query, ids);
    const whole =
      folded && inConversation
        ? unit(sum([scaled(alone, 1 - folded.share), scaled(inConversation, folded.share)]))
        : alone;
    const fits = namespaces.fit(whole);
    const named = mentions.find(query);
    const clauseCosines = others.map((clause) => vectors.map((vector) => dot(clause, vector)));
    const candidates = tools.map(({ id, tool }, index): FusionCandidate => {
      const vector = vectors[index] ?? new Float32Array();
      return {
        id,
        lexical: lexicalScores[index] ?? 0,
        cosine: dot(alone, vector),
        clauseCosine: steps ? Math.max(...clauseCosines.map((cosines) => cosines[index] ?? 0)) : undefined,
        namespace: fits.get(tool.namespace),
        named: { tool: named.tools.has(id), namespace: named.namespaces.has(tool.namespace) },
      };
    });
    const mixed =
      folded && inConversation
        ? foldCandidates(
            candidates,
            lexical.scores(folded.text, ids).map((score, index) => {
              return { lexical: score, cosine: dot(inConversation, vectors[index] ?? new Float32Array()) };
            }),
            folded.share,
          )
        : candidates;
    const hits = fuse(mixed, scale, { clauseShare: steps?.share ?? 0 });
    if (!steps) return hits.map(({ id }) => id);
    const place = new Map(ids.map((id, index) => [id, index]));
    const wishes = clauseCosines.slice(0, steps.wishes);
    const considered = hits.slice(0, CONSIDERED).map(({ id, semanticScore }) => {
      return { id, score: semanticScore, wishes: wishes.map((cosines) => cosines[place.get(id) ?? -1] ?? 0) };
    });
    return [...coverClauses(considered, SHOWN), ...hits.slice(CONSIDERED)].map(({ id }) => id);
  }

  return { rank };
}

function toMessage(turn: string): { readonly role: string; readonly content: string } {
  const [, role = "user", content = turn] = /^(\w+): (.*)$/su.exec(turn) ?? [];
  return { role, content };
}

function dot(a: Float32Array, b: Float32Array): number {
  let total = 0;
  for (let index = 0; index < a.length; index++) total += (a[index] ?? 0) * (b[index] ?? 0);
  return total;
}

function sum(vectors: readonly Float32Array[]): Float32Array {
  const total = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) vector.forEach((value, index) => (total[index] = (total[index] ?? 0) + value));
  return total;
}

function scaled(vector: Float32Array, by: number): Float32Array {
  return vector.map((value) => value * by);
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length > 0 ? scaled(vector, 1 / length) : vector;
}
