import { describe, it } from "vitest";
import type { SharedState } from "../../state/shared-state.ts";
import { changesContract, limitsContract, type StateBackend, stateContract } from "../../testing/index.ts";
import { memoryState } from "./memory.ts";

describe("memoryState, as shared state", () => {
  const backend = (): StateBackend => {
    let state: SharedState | undefined;
    return { single: true, open: (clock) => (state ??= memoryState({ clock })) };
  };
  const cases = [...stateContract(backend), ...limitsContract(backend), ...changesContract(backend)];
  for (const { name, run } of cases) it(name, run);
});
