import type { Surroundings } from "../../../adapters/surroundings.ts";
import type { SharedState } from "../../../state/shared-state.ts";
import { splitState } from "../../../state/split-state.ts";
import { stateType } from "../../load/state-type.ts";
import type { ResolvedConfig } from "../../load/resolve-config.ts";
import { createAdapter } from "../create-adapter.ts";
import { lazyState } from "./lazy-state.ts";

type StateSettings = Omit<ResolvedConfig["state"], "limits">;

/** Creates the state that the configuration names: what processes that share it agree on. */
export function configuredState({ state }: Pick<ResolvedConfig, "state">, surroundings: Surroundings): SharedState {
  const { limits, ...own } = state;
  const kept = stateOf(own, surroundings);
  return limits === undefined ? kept : splitState(kept, stateOf(limits, surroundings));
}

function stateOf(settings: StateSettings, surroundings: Surroundings): SharedState {
  const type = stateType(settings);
  return lazyState(type, () => createAdapter("state", type, settings, surroundings));
}

/** A state of its own in a SQLite file. */
export function stateInFile(file: string, surroundings: Surroundings): SharedState {
  return lazyState("sqlite", () => createAdapter("state", "sqlite", { file }, surroundings));
}
