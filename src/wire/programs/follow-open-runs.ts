import { OPEN_RUN_KEY, RUNS_TOPIC } from "../../runs/keys.ts";
import type { SharedState } from "../../state/shared-state.ts";

/**
 * Calls `load` once there are programs or workflows in the state that another process may leave behind: now, or when a process starts its first one.
 * So a gateway can continue the programs of other processes before it has run one itself. Other processes have no part in a state in memory. Returns a
 * function that ends it.
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
