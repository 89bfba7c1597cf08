import type { ResolvedConfig } from "./resolve-config.ts";

/** The value of `state.file` that keeps everything in memory. */
export const IN_MEMORY = ":memory:";

/** The file of `state.type: sqlite` unless one is named. */
const STATE_FILE = "./.toolarsenal/state.sqlite";

type StateSettings = Pick<ResolvedConfig["state"], "type" | "file">;

/** Which store the settings name: without a type, a file means SQLite. */
export function stateType({ type, file }: StateSettings): NonNullable<StateSettings["type"]> {
  if (file === IN_MEMORY && (type ?? "sqlite") === "sqlite") return "memory";
  return type ?? (file === undefined ? "memory" : "sqlite");
}

/** The SQLite file that the state is kept in; undefined if it is kept elsewhere. */
export function stateFile(settings: StateSettings): string | undefined {
  return stateType(settings) === "sqlite" ? (settings.file ?? STATE_FILE) : undefined;
}

/** True if past requests and calls are kept. Defaults to true if the state outlives the process. */
export function keepsHistory({ telemetry, state }: Pick<ResolvedConfig, "telemetry" | "state">): boolean {
  return telemetry.history.enabled ?? stateType(state) !== "memory";
}
