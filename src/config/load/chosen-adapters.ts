import type { Kind } from "../adapter-settings.ts";
import type { ResolvedConfig } from "./resolve-config.ts";
import { stateType } from "./state-type.ts";

/** An adapter that a configuration names. */
export interface ChosenAdapter {
  /** The part of the arsenal that it is. */
  readonly part: string;
  readonly kind: Kind;
  readonly name: string;
  /** Where its settings are in the configuration. */
  readonly path: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Every adapter that a configuration names. */
export function chosenAdapters(config: ResolvedConfig): readonly ChosenAdapter[] {
  const { vectorStore, embedder, reranker, llm, state, telemetry, audit, server } = config;
  const { replaces } = embedder;
  const { limits } = state;
  return [
    chosen("catalog", "engines", vectorStore.type, ["vectorStore"], vectorStore),
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

/** Which model API the settings name. Undefined if no model is configured. */
export function llmType({ type, model }: ResolvedConfig["llm"]): ResolvedConfig["llm"]["type"] {
  return type ?? (model === undefined ? undefined : "openai");
}

/** Which audit log the settings name: without a type, a file means that one. Undefined if nothing is recorded. */
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
