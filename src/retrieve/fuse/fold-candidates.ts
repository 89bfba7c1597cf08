import type { FusionCandidate } from "./fuse.ts";

/** What each ranker says of a tool for the request in its conversation. */
export interface FoldedScores {
  readonly lexical: number;
  readonly cosine: number | undefined;
}

/**
 * Mixes what the rankers say of a request alone and in its conversation. Words are brought to one scale first: a longer text is covered
 * less, which would let the request alone decide. `folded` has the candidates' order.
 */
export function foldCandidates(
  alone: readonly FusionCandidate[],
  folded: readonly FoldedScores[],
  share: number,
): readonly FusionCandidate[] {
  const mostAlone = Math.max(0, ...alone.map(({ lexical }) => lexical));
  const mostFolded = Math.max(0, ...folded.map(({ lexical }) => lexical));
  const scale = mostAlone > 0 && mostFolded > 0 ? mostAlone / mostFolded : 1;
  return alone.map((candidate, index) => {
    const other = folded[index];
    if (!other || candidate.lexical === 1) return candidate;
    const mix = (own: number, inConversation: number): number => (1 - share) * own + share * inConversation;
    // A request none of whose words any tool knows ("yes, do it") has nothing to say of its own.
    const words = mostAlone > 0 ? mix(candidate.lexical, scale * other.lexical) : other.lexical;
    const { cosine } = candidate;
    return {
      ...candidate,
      lexical: words,
      cosine: cosine === undefined || other.cosine === undefined ? cosine : mix(cosine, other.cosine),
    };
  });
}
