import type { Emit } from "../../observe/events.ts";
import { messageOf } from "../../errors/show-value.ts";
import { SAVED_KEY, SAVED_TOPIC } from "../../programs/saved/keys.ts";
import type { SharedState } from "../../state/shared-state.ts";

/**
 * Offers the saved programs of a state that outlives the process, and those that other processes save later. Loads nothing while there are none.
 * Returns a function that ends it.
 */
export async function followSavedPrograms(
  state: Pick<SharedState, "documents" | "changes">,
  offer: () => Promise<void>,
  emit: Emit,
): Promise<() => void> {
  const tryOffer = async (): Promise<void> => {
    try {
      if ((await state.documents.keys(SAVED_KEY)).length > 0) await offer();
    } catch (error) {
      emit("ensemble-failed", { ensemble: "programs", kind: "program", message: messageOf(error) });
    }
  };
  let isOffered = false;
  const end = state.changes.subscribe(SAVED_TOPIC, () => {
    // Once they are offered, their source follows the changes itself.
    if (isOffered) return;
    isOffered = true;
    void tryOffer();
  });
  await tryOffer();
  return end;
}
