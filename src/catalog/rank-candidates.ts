import { calibrateLexical } from "./lexical/calibrate-lexical.ts";
import { foldCandidates } from "./fold-candidates.ts";
import { fuse, type Candidate, type FusedHit } from "./fuse.ts";
import type { LexicalHit, LexicalIndex } from "./lexical/lexical-index.ts";
import type { Mentioned } from "./lexical/mentions.ts";
import type { Ranking } from "./dense/tiers.ts";

/** A request as the catalog reads it. */
export interface Request {
  readonly text: string;
  /** The request with the turns before it, and how much of each ranker's score comes from that. */
  readonly folded?: { readonly text: string; readonly share: number };
  /** The part of meaning that the best clause decides. */
  readonly clauseShare: number;
}

/** What the rankers and the request's names say. */
export interface Evidence {
  readonly lexical: Pick<LexicalIndex, "scores">;
  readonly worded: readonly LexicalHit[];
  /** Further tools that words put forward. */
  readonly besides: readonly string[];
  /** Absent where no embedder answered. */
  readonly ranking: Ranking | undefined;
  readonly named: Mentioned;
  readonly namespaceOf: (id: string) => string | undefined;
}

/** Everything either ranker put forward, in the fused order, and what was said of the request alone. */
export function rankCandidates(
  request: Request,
  evidence: Evidence,
): { readonly hits: readonly FusedHit[]; readonly said: ReadonlyMap<string, Candidate> } {
  const alone = gather(request.text, evidence);
  const said = new Map(alone.map((candidate) => [candidate.id, candidate]));
  const candidates = request.folded ? fold(alone, request.folded, evidence) : alone;
  const { ranking } = evidence;
  if (ranking) return { hits: fuse(candidates, ranking.scale, { clauseShare: request.clauseShare }), said };
  const hits = candidates.map(({ id, lexical }) => ({ id, semanticScore: calibrateLexical(lexical) }));
  return { hits: hits.sort((a, b) => b.semanticScore - a.semanticScore || (a.id < b.id ? -1 : 1)), said };
}

function gather(
  text: string,
  { lexical, worded, besides, ranking, named, namespaceOf }: Evidence,
): readonly Candidate[] {
  const covered = new Map(worded.map(({ id, score }) => [id, score]));
  const others = [...new Set([...besides, ...(ranking?.cosines.keys() ?? [])])].filter((id) => !covered.has(id));
  const scores = lexical.scores(text, others);
  others.forEach((id, index) => covered.set(id, scores[index] ?? 0));
  return [...covered].flatMap(([id, coverage]) => {
    const namespace = namespaceOf(id);
    if (namespace === undefined) return [];
    return [
      {
        id,
        lexical: coverage,
        cosine: ranking?.cosines.get(id),
        clauseCosine: bestOf(ranking?.clauses ?? [], id),
        namespace: ranking?.namespaces.get(namespace),
        named: { tool: named.tools.has(id), namespace: named.namespaces.has(namespace) },
      },
    ];
  });
}

function bestOf(clauses: readonly ReadonlyMap<string, number>[], id: string): number | undefined {
  let best: number | undefined;
  for (const cosines of clauses) {
    const cosine = cosines.get(id);
    if (cosine !== undefined && (best === undefined || cosine > best)) best = cosine;
  }
  return best;
}

function fold(
  alone: readonly Candidate[],
  { text, share }: NonNullable<Request["folded"]>,
  { lexical, ranking }: Evidence,
): readonly Candidate[] {
  const ids = alone.map(({ id }) => id);
  const scores = lexical.scores(text, ids);
  const folded = ids.map((id, index) => ({ lexical: scores[index] ?? 0, cosine: ranking?.folded?.get(id) }));
  return foldCandidates(alone, folded, share);
}
