import { isPlainObject } from "../../tool/json-schema.ts";
import type { Kind } from "../adapter-settings.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

export interface ChosenAdapter {
  /** The part of the arsenal that the adapter provides. */
  readonly part: string;
  readonly kind: Kind;
  readonly name: string;
  /** The path of its settings in the configuration. */
  readonly path: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
}

export function chosenAdapters(config: ResolvedConfig): readonly ChosenAdapter[] {
  const { vectorStore, embedder, reranker, llm, state, telemetry, audit, server } = config;
  const { replaces } = embedder;
  const { limits } = state;
  return [
    chosen("catalog", "engines", vectorStore.type, ["vectorStore"], storeSettings(vectorStore)),
    chosen("embedder", "embedders", embedder.type, ["embedder"], embedder),
    chosen("previous embedder", "embedders", replaces?.type, ["embedder", "replaces"], replaces),
    chosen("reranker", "rerankers", reranker.enabled ? reranker.type : undefined, ["reranker"], reranker),
    chosen("llm", "llms", llmType(llm), ["llm"], llm),
    chosen("state", "state", stateType(state), ["state"], state),
    chosen("limits", "state", limits && stateType(limits), ["state", "limits"], limits),
    chosen("telemetry", "sinks", telemetry.enabled === false ? undefined : telemetry.type, ["telemetry"], telemetry),
    chosen("audit", "audit", auditType(audit), ["audit"], audit),
    chosen("sign-in", "identity", server.auth?.jwt && "jwt", ["server", "auth", "jwt"], server.auth?.jwt),
  ].flat();
}

/** Returns the settings of the store: those of its section, overridden by those in `options`. */
export function storeSettings({
  options,
  ...settings
}: ResolvedConfig["vectorStore"]): Readonly<Record<string, unknown>> {
  return { ...settings, ...(isPlainObject(options) ? options : {}) };
}

/** Returns the configured model API; undefined if no model is configured. */
export function llmType({ type, model }: ResolvedConfig["llm"]): ResolvedConfig["llm"]["type"] {
  return type ?? (model === undefined ? undefined : "openai");
}

/** Returns the configured type of audit log. Without a type, `file` selects the file log. Undefined means that nothing is recorded. */
export function auditType({ type, file }: ResolvedConfig["audit"]): ResolvedConfig["audit"]["type"] {
  return type ?? (file === undefined ? undefined : "file");
}

function chosen(
  part: string,
  kind: Kind,
  name: string | undefined,
  path: readonly string[],
  settings: object = {},
): readonly ChosenAdapter[] {
  return name === undefined ? [] : [{ part, kind, name, path, settings: { ...settings } }];
}

/** The value of `state.file` that keeps everything in memory. */
export const IN_MEMORY = ":memory:";

/** The default file of `state.type: sqlite`. */
const STATE_FILE = "./.toolarsenal/state.sqlite";

type StateSettings = Pick<ResolvedConfig["state"], "type" | "file">;

/** Returns the configured type of store. Without a type, `file` selects SQLite. */
export function stateType({ type, file }: StateSettings): NonNullable<StateSettings["type"]> {
  if (file === IN_MEMORY && (type ?? "sqlite") === "sqlite") return "memory";
  return type ?? (file === undefined ? "memory" : "sqlite");
}

/** Returns the SQLite file of the state; undefined if another store is configured. */
export function stateFile(settings: StateSettings): string | undefined {
  return stateType(settings) === "sqlite" ? (settings.file ?? STATE_FILE) : undefined;
}

/** Returns true if past requests and calls are recorded. Defaults to true if the state outlives the process. */
export function keepsHistory({ telemetry, state }: Pick<ResolvedConfig, "telemetry" | "state">): boolean {
  return telemetry.history.enabled ?? stateType(state) !== "memory";
}
