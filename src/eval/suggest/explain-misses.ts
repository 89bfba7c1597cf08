import { setImmediate as nextTurn } from "node:timers/promises";
import { type Answering, toToolQuery, type Work } from "../answer-queries.ts";
import type { Answer } from "../answer.ts";
import type { KnownTool } from "../known-tools.ts";
import { type Contender, missReason } from "./miss-reason.ts";
import { type Miss, missKind, toMiss, worstPlaced } from "./misses.ts";

/** Every query that was missed, in order, each with its reason. They are asked once more, so that explaining costs no measured time. */
export async function explainMisses(
  arsenal: Answering,
  answers: readonly Answer[],
  { known, signal, onProgress }: Work & { readonly known: ReadonlyMap<string, KnownTool> },
): Promise<readonly Miss[]> {
  const misses: Miss[] = [];
  for (const [index, answer] of answers.entries()) {
    const kind = missKind(answer);
    onProgress(index + 1);
    if (kind === undefined) continue;
    await nextTurn();
    signal.throwIfAborted();
    const { explanation } = await arsenal.retrieve({ ...toToolQuery(answer, signal), explain: true });
    const explained = new Map(
      [...(explanation?.chosen ?? []), ...(explanation?.leftOut ?? [])].map((tool) => [tool.toolId, tool]),
    );
    const contender = (id: string | undefined): Contender | undefined => {
      const tool = id === undefined ? undefined : known.get(id);
      return tool && { known: tool, explained: explained.get(tool.tool.id) };
    };
    const best = contender(answer.ranking.find(({ id }) => !answer.relevant.includes(id))?.id);
    const reason = missReason(answer, kind, { wanted: contender(worstPlaced(answer)), best });
    misses.push(toMiss(answer, kind, reason, known));
  }
  return misses;
}
