import { loadSource } from "./load-source.ts";
import type { AddSourceOptions, GivenSource } from "./named-source.ts";
import type { SourceAdapter, SourceSurroundings } from "./source-adapter.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { Egress } from "../../guard/egress/egress.ts";
import type { Source } from "../../register/source.port.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { backoffMs } from "../../base/turns/backoff.ts";

export interface AddOptions extends AddSourceOptions {
  /** Defaults to the egress of the arsenal. */
  readonly egress?: Egress;
}

export interface AddSourceParts extends Omit<SourceSurroundings, "patient" | "mayStart"> {
  readonly mayStart: NonNullable<SourceSurroundings["mayStart"]>;
  /** Sources that are retried until they connect, by name. Removing a name stops the retries. */
  readonly wanted: Map<string, object>;
  addEnsemble(source: Source, options: Pick<AddOptions, "signal">): Promise<number>;
  isClosed(): boolean;
}

const BACKOFF = { firstMs: 5000, longestMs: 300_000 };

export async function addSource(given: GivenSource, options: AddOptions, parts: AddSourceParts): Promise<number> {
  if (isSource(given)) return parts.addEnsemble(given, options);
  if (!isPlainObject(given)) {
    const fix =
      "Pass the result of mcp({…}), openapi({…}) or a similar function, a source of your own, or a list of tools.";
    throw fixable("CONFIG_INVALID", `${showValue(given)} is not a source.`, fix, { field: "source", value: given });
  }
  const { type, ...settings } = given as { readonly type?: unknown };
  const adapter = await loadSource(type);
  let tools = 0;
  for (const each of (await adapter.expand?.(settings)) ?? [settings]) {
    tools += await addOne(adapter, each, options, parts);
  }
  return tools;
}

function isSource(given: GivenSource): given is Source {
  return typeof (given as Partial<Source> | undefined)?.connect === "function";
}

async function addOne(
  adapter: SourceAdapter,
  settings: { readonly name?: unknown },
  { patient = false, configured = false, egress, signal, added }: AddOptions,
  parts: AddSourceParts,
): Promise<number> {
  const { wanted, isClosed, clock, mayStart } = parts;
  const { name } = settings;
  const ways = { patient, mayStart: configured ? mayStart : undefined, egress: egress ?? parts.egress };

  async function connect(): Promise<number> {
    const source = await adapter.create(settings, { ...parts, ...ways });
    try {
      added?.(source);
      return await parts.addEnsemble(source, { signal });
    } catch (error) {
      // The source may have started to connect before its name turned out to be taken.
      await source.disconnect();
      throw error;
    }
  }

  const isRemote = (adapter.reach(settings).addresses ?? []).length > 0;
  if (!patient || adapter.patient === true || !isRemote || typeof name !== "string") return connect();
  const isWanted = (): boolean => wanted.get(name) === settings && !isClosed();
  const retryAfter = (failures: number): void => {
    const retry = (): void => {
      if (isWanted()) connect().catch(() => isWanted() && retryAfter(failures + 1));
    };
    clock.after(backoffMs(failures, BACKOFF), retry, { background: true });
  };
  wanted.set(name, settings);
  try {
    return await connect();
  } catch (error) {
    if (isWanted()) retryAfter(0);
    throw error;
  }
}
