import type { Surroundings } from "../adapters/surroundings.ts";
import type { Invocables } from "../adapters/sources/descriptor/invocable.ts";
import type { Llm } from "../agent/llm.port.ts";
import { fixable } from "../errors/arsenal-error.ts";
import type { Embedder } from "../catalog/embedder.port.ts";
import type { Tier } from "../catalog/dense/tiers.ts";
import type { CatalogEngine } from "../catalog/catalog-engine.port.ts";
import type { Executor } from "../execute/executor.port.ts";
import type { Validator } from "../execute/validator.port.ts";
import { type AuditKey, hmacKey } from "../guard/audit/key.ts";
import type { AuditLog } from "../guard/audit.port.ts";
import type { Policy } from "../guard/policy.port.ts";
import { hasSecret } from "../guard/secrets/reference.ts";
import type { Secrets } from "../guard/secrets/secrets.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { Clock } from "../observe/clock.ts";
import type { Sink } from "../observe/sink.port.ts";
import type { Dialect } from "../transcode/dialect.port.ts";
import type { IntentClassifier } from "../retrieve/query.ts";
import type { Reranker } from "../retrieve/reranker.port.ts";
import { present } from "../base/present.ts";
import { needsOf } from "../config/adapter-settings.ts";
import { auditType, llmType, storeSettings } from "../config/load/chosen-adapters.ts";
import { type ResolvedConfig, resolveConfig } from "../config/load/resolve-config.ts";
import type { AuditConfig, EmbedderConfig, RerankerConfig, StateConfig, ToolArsenalConfig } from "../config/config.ts";
import { createAdapter } from "./create-adapter.ts";
import { lazyPort } from "./create-adapter.ts";

/** Injected parts that replace the built-in ones. */
export interface ToolArsenalParts {
  /** Stores and searches tools and vectors. Defaults to memory. */
  readonly engine?: CatalogEngine;
  /** Replaces the shipped embedders. */
  readonly embedder?: Embedder;
  /** Embedders in place of the shipped ones, worst first. The arsenal waits for the first one; the last one embeds the tools in the background. */
  readonly tiers?: readonly Tier[];
  readonly reranker?: Reranker;
  readonly classifyIntent?: IntentClassifier;
  readonly policy?: Policy;
  /** The state that replicas share: approvals, pins, idempotency keys, limits and breakers. The program that injects it closes it. */
  readonly state?: SharedState;
  /** The log that records every call. The program that injects it closes it. */
  readonly audit?: AuditLog;
  readonly validator?: Validator;
  /** Functions `(context, arguments)` by name, for descriptors under `ensembles` that name no module. */
  readonly handlers?: Invocables;
  /** Executors, tried in order before the one that runs handlers in this process. */
  readonly executors?: readonly Executor[];
  /** Sinks in addition to the configured telemetry. */
  readonly sinks?: readonly Sink[];
  /** Dialects of your own, in addition to the built-in ones. */
  readonly dialects?: readonly Dialect[];
  readonly clock?: Clock;
  /** Values for secret references (`env:NAME`) and for `${NAME}` in a file. Defaults to the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Names of configuration sections that can also be injected parts. */
type SharedSection = keyof ToolArsenalConfig & keyof ToolArsenalParts;

/** All options of a new arsenal: the configuration, and injected parts that replace the built-in ones. All are optional. */
export type ToolArsenalOptions = Omit<ToolArsenalConfig, SharedSection> &
  Omit<ToolArsenalParts, SharedSection> & {
    /** The settings of an embedder, or your own embedder. */
    readonly embedder?: EmbedderConfig | Embedder;
    /** The settings of a reranker, or your own reranker. It is used if the query asks for it, or always with `enabled: true`. */
    readonly reranker?: RerankerConfig | (Reranker & Pick<RerankerConfig, "enabled">);
    /** The settings of the shared state, or your own state. */
    readonly state?: StateConfig | SharedState;
    /** The settings of the audit log, or your own log. */
    readonly audit?: AuditConfig | AuditLog;
  };

const PARTS: { readonly [Name in keyof Required<ToolArsenalParts>]: true } = {
  engine: true,
  embedder: true,
  tiers: true,
  reranker: true,
  classifyIntent: true,
  policy: true,
  state: true,
  audit: true,
  validator: true,
  handlers: true,
  executors: true,
  sinks: true,
  dialects: true,
  clock: true,
  environment: true,
};

const SHARED: ReadonlySet<string> = new Set<SharedSection>(["embedder", "reranker", "state", "audit"]);

/** Marks a configuration that was checked when it was read. Checking every section again would add about 100 ms to the start. */
const RESOLVED: unique symbol = Symbol("resolved configuration");

/** Makes options from parts and a configuration that was already checked. */
export function resolvedOptions(config: ResolvedConfig, parts: ToolArsenalParts): ToolArsenalOptions {
  return { ...parts, [RESOLVED]: config } as ToolArsenalOptions;
}

/** A checked configuration and the injected parts. */
export interface DividedOptions {
  readonly config: ResolvedConfig;
  readonly parts: ToolArsenalParts;
}

/** Divides the options of an arsenal into configuration and parts. Throws CONFIG_INVALID if the configuration is broken. */
export function divideOptions(options: ToolArsenalOptions): DividedOptions {
  const { [RESOLVED]: resolved } = options as { readonly [RESOLVED]?: ResolvedConfig };
  const config: Record<string, unknown> = {};
  const parts: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    const isPart = Object.hasOwn(PARTS, name) && (!SHARED.has(name) || hasMethods(value));
    (isPart ? parts : config)[name] = value;
  }
  const checked = resolved ?? resolveConfig(config);
  const { enabled } = (parts["reranker"] ?? {}) as Pick<RerankerConfig, "enabled">;
  if (enabled === undefined) return { config: checked, parts };
  return { config: { ...checked, reranker: { ...checked.reranker, enabled } }, parts };
}

/** Returns true for an injected part: settings have no functions, but a part has functions, directly or one level below. */
function hasMethods(value: unknown, depth = 1): boolean {
  if (typeof value !== "object" || value === null) return false;
  for (const name in value) {
    const member: unknown = Reflect.get(value, name);
    if (typeof member === "function" || (depth > 0 && hasMethods(member, depth - 1))) return true;
  }
  // The methods of a class are not enumerable.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null && !Array.isArray(value);
}

/** Returns the injected catalog engine, or else the configured one. */
export function configuredEngine(
  { vectorStore }: ResolvedConfig,
  parts: ToolArsenalParts,
  surroundings: Surroundings,
): CatalogEngine {
  const { type } = vectorStore;
  const settings = storeSettings(vectorStore);
  return parts.engine ?? lazyPort(type, () => createAdapter<CatalogEngine>("engines", type, settings, surroundings));
}

/** Returns the injected embedder or tiers, or else a function that loads the configured ones. */
export function configuredTiers(
  { embedder: { replaces, ...given }, vectorStore: { dimension } }: ResolvedConfig,
  { embedder, tiers }: ToolArsenalParts,
  surroundings: Surroundings,
): readonly Tier[] | (() => Promise<readonly Tier[]>) {
  if (tiers !== undefined) return tiers;
  if (embedder !== undefined) return [{ embedder }];
  const settings = { ...present({ dimension }), ...given };
  const { cache } = settings;
  return async () => [
    ...(replaces === undefined ? [] : await tiersOf({ ...present({ cache }), ...replaces }, surroundings)),
    ...(await tiersOf(settings, surroundings)),
  ];
}

/** Returns the shipped embedders, or the named one. The vectors of both are cached here. */
async function tiersOf(
  settings: Omit<ResolvedConfig["embedder"], "replaces">,
  surroundings: Surroundings,
): Promise<readonly Tier[]> {
  const { type, cache = false } = settings;
  if (type === "sentence_transformers") {
    const { shippedTiers } = await import("../adapters/embedders/shipped-tiers.ts");
    return shippedTiers(settings, surroundings.emit);
  }
  const embedder = await createAdapter<Embedder>("embedders", type, settings, surroundings);
  if (cache === false) return [{ embedder }];
  const { cachedEmbedder } = await import("../adapters/embedders/cached.ts");
  return [{ embedder: cachedEmbedder(embedder, cache === true ? {} : { folder: cache }) }];
}

/** Returns the injected reranker, or the configured one, which is loaded by its first query. Undefined if neither exists. */
export function configuredReranker(
  { reranker: settings }: Pick<ResolvedConfig, "reranker">,
  { reranker }: ToolArsenalParts,
  surroundings: Surroundings,
): Reranker | undefined {
  if (reranker !== undefined || !settings.enabled) return reranker;
  const { type = "cross_encoder", model, apiBase } = settings;
  // Without a `type`, the configuration relies on an injected reranker. No reranker was injected, so the settings must be complete.
  const fix = needsOf("rerankers", type)["apiBase"];
  if (apiBase === undefined && fix !== undefined) {
    const ways = `${fix} Or choose another reranker.type, or inject your own as \`reranker\`.`;
    const field = "reranker.api_base";
    throw fixable("CONFIG_INVALID", `${field} is needed for ${type}.`, ways, { field });
  }
  let loading: Promise<Reranker> | undefined;
  const load = (): Promise<Reranker> =>
    (loading ??= createAdapter<Reranker>("rerankers", type, settings, surroundings));
  return {
    model: model === undefined ? type : `${type}/${model}`,
    rerank: async (...given) => (await load()).rerank(...given),
  };
}

/** Returns the configured model, which is loaded by its first request. Undefined if no model is configured. */
export function configuredLlm(
  { llm: settings }: Pick<ResolvedConfig, "llm">,
  surroundings: Surroundings,
): Llm | undefined {
  const type = llmType(settings);
  if (type === undefined) return undefined;
  let loading: Promise<Llm> | undefined;
  const load = (): Promise<Llm> => (loading ??= createAdapter<Llm>("llms", type, settings, surroundings));
  return {
    name: `${type}/${settings.model ?? ""}`,
    next: async (request) => (await load()).next(request),
    close: () => void loading?.then((llm) => llm.close()).catch(() => {}),
  };
}

/** Returns the configured sinks. A library prints nothing unless it is asked to. */
export function configuredSinks({ telemetry }: ResolvedConfig, surroundings: Surroundings): readonly Sink[] {
  const { type: name = "console", level, enabled = telemetry.type !== undefined || level !== undefined } = telemetry;
  if (!enabled) return [];
  let loading: Promise<Sink> | undefined;
  let loaded: Sink | undefined;
  const load = async (): Promise<Sink> => (loaded = await createAdapter<Sink>("sinks", name, telemetry, surroundings));
  return [
    {
      name,
      // The first event loads the sink. Until then every event is accepted.
      wants: (event, at) => loaded?.wants?.(event, at) ?? true,
      write: async (events) => (await (loading ??= load())).write(events),
      close: async () => (await loading)?.close?.(),
    },
  ];
}

/** Returns the configured audit log; undefined if auditing is off. */
export function configuredAudit({ audit }: ResolvedConfig, surroundings: Surroundings): AuditLog | undefined {
  const { secret } = audit;
  const type = auditType(audit);
  if (type === undefined) return undefined;
  const key = secret === undefined ? {} : { key: auditKey(secret, surroundings.secrets) };
  return lazyPort(type, () => createAdapter<AuditLog>("audit", type, audit, { ...surroundings, ...key }));
}

/** Returns the signing key. A literal secret is checked now, a reference when the log is opened. */
export function auditKey(secret: string, secrets: Secrets): AuditKey | (() => Promise<AuditKey>) {
  if (!hasSecret(secret)) return hmacKey(secret);
  return async () => hmacKey(await secrets.fill(secret, { scope: "audit", field: "audit.secret" }));
}
