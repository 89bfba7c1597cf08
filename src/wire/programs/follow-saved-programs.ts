import type { Emit } from "../../observe/events.ts";
import { messageOf } from "../../errors/show-value.ts";
import { SAVED_KEY, SAVED_TOPIC } from "../../programs/saved/keys.ts";
import type { SharedState } from "../../state/shared-state.ts";

/**
 * Offers the saved programs of a persistent state, including programs that other processes save later. Loads nothing until there are saved programs.
 * Returns a function that stops it.
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
    // Once the programs are offered, their source follows changes itself.
    if (isOffered) return;
    isOffered = true;
    void tryOffer();
  });
  await tryOffer();
  return end;
}
