import type { NamespaceFit } from "../../catalog/catalog-engine.port.ts";
import { calibrateLexical, type DenseScale } from "./calibrate.ts";

/** A candidate tool and its scores from each ranker. */
export interface FusionCandidate {
  readonly id: string;
  /** Share of the request's weight that the tool's words cover, in [0, 1]. It is 1 only if the request is the tool's name. */
  readonly lexical: number;
  /** Cosine of request and tool; undefined if the tool has no vector. */
  readonly cosine: number | undefined;
  /** The highest cosine of a clause of the request with the tool. */
  readonly clauseCosine?: number | undefined;
  /** The similarity of the tool's namespace to the request. Omitted if it is not informative. */
  readonly namespace?: NamespaceFit | undefined;
  /** Whether the request names the tool or its product. */
  readonly named?: { readonly tool?: boolean; readonly namespace?: boolean } | undefined;
}

/** The weight of the namespace, and of a name in the request, relative to words. It separates similar tools, but cannot beat a better tool. */
const NAMESPACE_PART = 2 / 3;
const NAME_PART = 1 / 3;

/**
 * Ranks candidates by meaning and words, each relative to the best candidate, plus the evidence of namespaces and names. The embedder's scale sets
 * the weight of meaning. A tool's score is its share of the best candidate's calibrated cosine: the fusion decides the order, and the cosine decides
 * whether the request is served at all. A tool without a vector is judged by words only; if no word matches any tool, only meaning counts. A tool
 * whose name is the request comes first. `clauseShare`, from 0 to 1, is the part of meaning that the best clause decides.
 */
export function fuse(
  candidates: readonly FusionCandidate[],
  scale: DenseScale,
  { clauseShare = 0 }: { readonly clauseShare?: number } = {},
): readonly { readonly id: string; readonly semanticScore: number }[] {
  const embedded = candidates.filter((candidate): candidate is Embedded => candidate.cosine !== undefined);
  const top = Math.max(scale.floor, ...embedded.map(({ cosine }) => cosine));
  const proportions = blend(embedded, scale, clauseShare);
  const scores = new Map(
    embedded.map(({ id }, index) => {
      return [id, scale.calibrate(scale.floor + (proportions[index] ?? 0) * (top - scale.floor))] as const;
    }),
  );
  const best = Math.max(0, ...scores.values());
  const hits = candidates.map(({ id, lexical }) => {
    const words = calibrateLexical(lexical);
    const score = lexical === 1 ? Math.max(words, best) : (scores.get(id) ?? words);
    return { id, semanticScore: Math.min(Math.max(score, 0), 1), isName: lexical === 1 };
  });
  return hits
    .sort((a, b) => b.semanticScore - a.semanticScore || Number(b.isName) - Number(a.isName) || (a.id < b.id ? -1 : 1))
    .map(({ id, semanticScore }) => ({ id, semanticScore }));
}

type Embedded = FusionCandidate & { readonly cosine: number };

/** Returns the quality of each candidate relative to the best one, in [0, 1]. */
function blend(candidates: readonly Embedded[], { floor, share }: DenseScale, clauseShare: number): readonly number[] {
  const whole = shares(candidates.map(({ cosine }) => cosine - floor));
  const clauses = shares(candidates.map(({ cosine, clauseCosine = cosine }) => clauseCosine - floor));
  const meaning = shares(whole.map((value, index) => (1 - clauseShare) * value + clauseShare * (clauses[index] ?? 0)));
  const words = shares(candidates.map(({ lexical }) => lexical));
  const fused = shares(meaning.map((value, index) => share * value + (1 - share) * (words[index] ?? 0)));
  const namespaces = shares(candidates.map(({ namespace }) => (namespace ? namespace.cosine - floor : 0)));
  return shares(
    candidates.map(({ namespace, named }, index) => {
      const own = fused[index] ?? 0;
      const trust = namespace?.trust ?? 0;
      // If the namespace is not informative, the tool's own score replaces it, so the tool neither gains nor loses.
      const prior = trust * (namespaces[index] ?? 0) + (1 - trust) * own;
      const names = Number(named?.tool ?? false) + Number(named?.namespace ?? false);
      return own + (1 - share) * (NAMESPACE_PART * prior + NAME_PART * names);
    }),
  );
}

/** Divides each value by the greatest. Negative values become 0. */
function shares(values: readonly number[]): readonly number[] {
  const greatest = Math.max(0, ...values);
  return values.map((value) => (greatest > 0 ? Math.max(value, 0) / greatest : 0));
}

/**
 * Combines the scores of a request alone and with its conversation. Word scores are rescaled, because a tool covers less of a longer text. `folded`
 * has the same order as `alone`.
 */
export function foldCandidates(
  alone: readonly FusionCandidate[],
  folded: readonly Pick<FusionCandidate, "lexical" | "cosine">[],
  share: number,
): readonly FusionCandidate[] {
  const mostAlone = Math.max(0, ...alone.map(({ lexical }) => lexical));
  const mostFolded = Math.max(0, ...folded.map(({ lexical }) => lexical));
  const scale = mostAlone > 0 && mostFolded > 0 ? mostAlone / mostFolded : 1;
  return alone.map((candidate, index) => {
    const other = folded[index];
    if (!other || candidate.lexical === 1) return candidate;
    const mix = (own: number, inConversation: number): number => (1 - share) * own + share * inConversation;
    // If no tool contains any word of the request ("yes, do it"), only the conversation counts.
    const words = mostAlone > 0 ? mix(candidate.lexical, scale * other.lexical) : other.lexical;
    const { cosine } = candidate;
    return {
      ...candidate,
      lexical: words,
      cosine: cosine === undefined || other.cosine === undefined ? cosine : mix(cosine, other.cosine),
    };
  });
}
