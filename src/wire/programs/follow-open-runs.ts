import { OPEN_RUN_KEY, RUNS_TOPIC } from "../../runs/keys.ts";
import type { SharedState } from "../../state/shared-state.ts";

/**
 * Calls `load` once the state contains programs or workflows that this process may have to continue: now, or when any process starts its first one.
 * So a gateway can continue programs of other processes before it has run one itself. Does nothing for a state in memory, which no other process
 * uses. Returns a function that stops it.
 */
export function followOpenRuns(
  { name, documents, changes }: Pick<SharedState, "name" | "documents" | "changes">,
  load: () => Promise<unknown>,
): () => void {
  if (name === "memory") return () => {};
  let isLoaded = false;
  const tryLoad = async (): Promise<void> => {
    if (isLoaded) return;
    isLoaded = true;
    // The next message retries.
    await load().catch(() => void (isLoaded = false));
  };
  const look = async (): Promise<void> => {
    if ((await documents.keys(OPEN_RUN_KEY)).length > 0) await tryLoad();
  };
  const end = changes.subscribe(RUNS_TOPIC, () => void tryLoad());
  look().catch(() => {});
  return end;
}
