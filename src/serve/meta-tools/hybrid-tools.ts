import { compilePatterns } from "../../guard/pattern.ts";
import type { Clock } from "../../observe/clock.ts";
import type { ArsenalEvent } from "../../observe/events.ts";
import { isUnlisted, type Tool } from "../../tool/tool.ts";
import type { ServedArsenal } from "../served-arsenal.ts";
import { toToolName } from "./shown-tool.ts";

/** The tools that hybrid mode lists in addition to the meta-tools. */
export interface CommonTools {
  includes(tool: Tool): boolean;
  close(): void;
}

/** The number of learned tools, the uses after which a tool is learned, and the lead that a new tool needs to replace a learned one. */
const MAX_LEARNED = 8;
const MIN_USES = 3;
const OUTDO = 2;

/** Minimum time between updates of the list. A list that changed with every call would invalidate the prompt caches of clients. */
const REVIEW_MS = 600_000;

/** Returns the tools that an operator chose: by id, by the name that clients see, or by pattern. */
export function configuredTools(common: readonly string[]): CommonTools {
  const matches = compilePatterns(common, { field: "common", grants: true });
  const names = new Set(common);
  return {
    includes: (tool) => names.has(toToolName(tool.id)) || matches(tool) !== undefined,
    close: () => undefined,
  };
}

/** Returns the most used tools, over all callers. `changed` is called when the selection changes. */
export function learnedTools(parts: {
  readonly arsenal: Pick<ServedArsenal, "subscribe">;
  readonly clock: Clock;
  readonly changed: () => void;
}): CommonTools {
  const uses = new Map<string, number>();
  const members = new Set<string>();
  let cancelReview: (() => void) | undefined;

  const heard = ({ name, data }: ArsenalEvent): void => {
    if (name === "tool-deleted") {
      uses.delete(data.toolId);
      members.delete(data.toolId);
    }
    if (name !== "call-finished" || data.status !== "success" || isUnlisted(data.toolId)) return;
    uses.set(data.toolId, (uses.get(data.toolId) ?? 0) + 1);
    cancelReview ??= parts.clock.after(REVIEW_MS, review, { background: true });
  };
  const unsubscribe = parts.arsenal.subscribe(heard, { names: ["tool-deleted", "call-finished"] });

  function review(): void {
    cancelReview = undefined;
    const used = (id: string): number => uses.get(id) ?? 0;
    const candidates = [...uses.keys()]
      .filter((id) => used(id) >= MIN_USES && !members.has(id))
      .sort((a, b) => used(b) - used(a) || (a < b ? -1 : 1));
    let isChanged = false;
    for (const candidate of candidates) {
      if (members.size >= MAX_LEARNED) {
        const [least] = [...members].sort((a, b) => used(a) - used(b));
        if (least === undefined || used(candidate) < OUTDO * used(least)) break;
        members.delete(least);
      }
      members.add(candidate);
      isChanged = true;
    }
    if (isChanged) parts.changed();
  }

  return {
    includes: ({ id }) => members.has(id),
    close() {
      unsubscribe();
      cancelReview?.();
    },
  };
}
