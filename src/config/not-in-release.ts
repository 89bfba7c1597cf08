import { ArsenalError } from "../errors/arsenal-error.ts";
import type { ResolvedConfig } from "./load/resolve-config.ts";

/** Parts that were injected and so stand in for what a configuration asks for. */
export interface InjectedParts {
  readonly engine?: unknown;
  readonly embedder?: unknown;
  readonly reranker?: unknown;
  readonly sinks?: unknown;
  readonly policy?: unknown;
}

interface Setting {
  readonly field: string;
  /** What is asked for, where this release does not have it. */
  readonly asked: (config: ResolvedConfig) => unknown;
  readonly insteadOf?: keyof InjectedParts;
  readonly fix: string;
}

/** Settings that name what this release does not have. Ignoring one would leave a user with less than they asked for, unsaid. */
const MISSING: readonly Setting[] = [
  {
    field: "vector_store.type",
    asked: ({ vectorStore: { type } }) => (type === "sqlite" ? undefined : other(type, "memory")),
    insteadOf: "engine",
    fix: "Use memory or sqlite, or inject your own as `engine`.",
  },
  {
    field: "embedder.type",
    asked: ({ embedder }) => other(embedder.type, "sentence_transformers"),
    insteadOf: "embedder",
    fix: "Use sentence_transformers, or inject your own as `embedder`.",
  },
  {
    field: "reranker.enabled",
    asked: ({ reranker }) => reranker.enabled || undefined,
    insteadOf: "reranker",
    fix: "Set it to false, or inject your own as `reranker`.",
  },
  {
    field: "telemetry.type",
    asked: ({ telemetry: { enabled = true, type = "console" } }) => (enabled ? other(type, "console") : undefined),
    insteadOf: "sinks",
    fix: "Use console, or inject your own as `sinks`.",
  },
  {
    field: "a2a.agents",
    asked: ({ a2a }) => filled(a2a.agents.map(({ name }) => name)),
    fix: "Leave it empty, or add a source of your own with addEnsemble.",
  },
];

/** Throws `CONFIG_INVALID`, with every such setting, where a configuration asks for what neither this release nor the caller brings. */
export function refuseNotInRelease(config: ResolvedConfig, injected: InjectedParts): void {
  const issues = MISSING.flatMap(({ field, asked, insteadOf, fix }) => {
    const value = insteadOf !== undefined && injected[insteadOf] !== undefined ? undefined : asked(config);
    return value === undefined
      ? []
      : [{ field, value, fix, message: `${JSON.stringify(value)} is not part of this release` }];
  });
  const [first, ...others] = issues;
  if (first === undefined) return;
  const more = others.length === 0 ? "" : ` Nor are: ${others.map(({ field }) => field).join(", ")}.`;
  const { field, message, value, fix } = first;
  throw new ArsenalError("CONFIG_INVALID", `${field}: ${message}. ${fix}${more}`, { field, value, fix, issues });
}

function other(value: string, built: string): string | undefined {
  return value === built ? undefined : value;
}

function filled(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list;
}
