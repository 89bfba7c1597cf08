import type { EngineAnswer, EngineCandidate, MatchedTerm, NamespaceFit } from "../../catalog/catalog-engine.port.ts";
import type { RequestTier, RequestVectors } from "../../catalog/dense/tiers.ts";
import { remember } from "../../base/remember.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Request } from "../understand/understand.ts";
import { calibrateLexical, denseScale, type DenseScale } from "./calibrate.ts";
import { foldCandidates, fuse, type FusionCandidate } from "./fuse.ts";
import { predictScores } from "./predict-scores.ts";

/** A tool and how well it fits a request. */
export interface Hit {
  readonly tool: Tool;
  /** Absolute, in [0, 1], and comparable between requests. Within one request, it has the order of the fused ranking. */
  readonly semanticScore: number;
  /** Cosine of request and tool; undefined if only words found the tool. */
  readonly cosine?: number | undefined;
  /** Share of the request's weight that the tool's words cover, in [0, 1]. It is 1 only if the request is the tool's name. */
  readonly coverage?: number;
  /** The cosine with each wish, if the request has several. */
  readonly wishes?: readonly number[];
  /** Returns the words of the request that occur in the tool, heaviest first. */
  matchedTerms(): readonly MatchedTerm[];
}

/** The candidates of an engine in fused order, best first. */
export interface FusedEvidence {
  readonly hits: readonly Hit[];
  /** The ranker that answered: the name of a tier, two tiers combined (`tuned+static`), or `lexical`. */
  readonly tier: string;
}

/** The evidence of the tier that answers: the cosine of each candidate with each text of the request. */
interface Meaning {
  readonly tier: string;
  readonly scale: DenseScale;
  readonly cosines: readonly (readonly (number | undefined)[])[];
  /** The index of the tier's first vector among the query's vectors. */
  readonly offset: number;
}

/** Ranks the engine's candidates by words, meaning, namespaces and names. The ranking is the same for every engine. */
export function fuseEvidence(request: Request, answer: EngineAnswer, vectors: RequestVectors): FusedEvidence {
  const { candidates } = answer;
  const meaning = readMeaning(answer, vectors);
  const fitOf = meaning && namespaceFits(request, answer, vectors, meaning.offset);
  const alone = candidates.map((candidate, at) => ({
    ...toFusion(candidate, at, request, answer, meaning),
    namespace: fitOf?.(candidate.tool.namespace),
  }));
  const fused = orderBy(alone, answer, request, meaning);
  const places = new Map(candidates.map(({ tool }, at) => [tool.id, at]));
  const wishesFrom = request.meanings.length - (request.steps?.clauses.length ?? 0);
  const wishes = meaning?.cosines.slice(wishesFrom, wishesFrom + (request.steps?.wishes ?? 0)) ?? [];
  let termsIn: ReturnType<EngineAnswer["matchedTerms"]> | undefined;
  return {
    tier: meaning?.tier ?? "lexical",
    hits: fused.flatMap(({ id, semanticScore }) => {
      const at = places.get(id) ?? -1;
      const tool = candidates[at]?.tool;
      const own = alone[at];
      if (tool === undefined || own === undefined) return [];
      return [
        {
          tool,
          semanticScore,
          cosine: own.cosine,
          coverage: own.lexical,
          wishes: wishes.map((of) => of[at] ?? 0),
          matchedTerms: () => (termsIn ??= answer.matchedTerms(request.text))(id),
        },
      ];
    }),
  };
}

/** Chooses the tier that answers: the best one if it knows all searched tools, the lesser one if the best knows too few, otherwise both combined. */
function readMeaning(answer: EngineAnswer, { tiers, vectors, knowsEnough }: RequestVectors): Meaning | undefined {
  const [best, lesser] = tiers;
  if (best === undefined) return undefined;
  const texts = vectors.length / tiers.length;
  const cosinesFrom = (offset: number): readonly (readonly (number | undefined)[])[] =>
    Array.from({ length: texts }, (_, text) => answer.candidates.map(({ cosines }) => cosines[offset + text]));
  const known = answer.embedded[0] ?? 0;
  if (lesser === undefined || known >= answer.accepted) {
    return { tier: best.name, scale: scaleOf(best.embedder), cosines: cosinesFrom(0), offset: 0 };
  }
  const others = cosinesFrom(texts);
  if (!knowsEnough(known, answer.accepted)) {
    return { tier: lesser.name, scale: scaleOf(lesser.embedder), cosines: others, offset: texts };
  }
  const cosines = cosinesFrom(0).map((own, text) => predictScores(own, others[text] ?? []));
  return { tier: `${best.name}+${lesser.name}`, scale: scaleOf(best.embedder), cosines, offset: 0 };
}

/** Computing the scale takes a search, so it is cached. */
const scaleOf = remember((embedder: RequestTier["embedder"]) =>
  denseScale(embedder.calibrate?.bind(embedder), embedder.share),
);

function toFusion(
  { tool, coverage }: EngineCandidate,
  at: number,
  { steps, meanings }: Request,
  { named }: EngineAnswer,
  meaning: Meaning | undefined,
): FusionCandidate {
  let clauseCosine: number | undefined;
  const clausesFrom = meanings.length - (steps?.clauses.length ?? 0);
  for (const cosines of meaning?.cosines.slice(clausesFrom) ?? []) {
    const cosine = cosines[at];
    if (cosine !== undefined && (clauseCosine === undefined || cosine > clauseCosine)) clauseCosine = cosine;
  }
  return {
    id: tool.id,
    lexical: coverage[0] ?? 0,
    cosine: meaning?.cosines[0]?.[at],
    clauseCosine,
    named: { tool: named.tools.has(tool.id), namespace: named.namespaces.has(tool.namespace) },
  };
}

/** Returns the similarity of each namespace to the request, alone and with its conversation. */
function namespaceFits(
  { folded }: Request,
  answer: EngineAnswer,
  { vectors }: RequestVectors,
  offset: number,
): (namespace: string) => NamespaceFit | undefined {
  if (folded === undefined) return (namespace) => answer.namespaceFit(namespace, offset);
  const { share } = folded;
  // Computes the cosine with the mix of the two vectors, at unit length.
  const product = dot(vectors[offset]?.vector, vectors[offset + 1]?.vector);
  const length = Math.sqrt((1 - share) ** 2 + share ** 2 + 2 * share * (1 - share) * product);
  return (namespace) => {
    const alone = answer.namespaceFit(namespace, offset);
    const inConversation = answer.namespaceFit(namespace, offset + 1);
    if (alone === undefined || inConversation === undefined || length === 0) return alone;
    return { cosine: ((1 - share) * alone.cosine + share * inConversation.cosine) / length, trust: alone.trust };
  };
}

function dot(a: Float32Array = new Float32Array(), b: Float32Array = new Float32Array()): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

/** Orders candidates by all evidence; without vectors, by words only. */
function orderBy(
  given: readonly FusionCandidate[],
  answer: EngineAnswer,
  request: Request,
  meaning: Meaning | undefined,
) {
  const { folded, steps } = request;
  const inConversation = answer.candidates.map(({ coverage }, at) => {
    return { lexical: coverage[1] ?? 0, cosine: meaning?.cosines[1]?.[at] };
  });
  const candidates = folded ? foldCandidates(given, inConversation, folded.share) : given;
  if (meaning) return fuse(candidates, meaning.scale, { clauseShare: steps?.share ?? 0 });
  return candidates
    .map(({ id, lexical }) => ({ id, semanticScore: calibrateLexical(lexical) }))
    .sort((a, b) => b.semanticScore - a.semanticScore || (a.id < b.id ? -1 : 1));
}
