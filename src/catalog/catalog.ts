import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Tool } from "../tool/tool.ts";
import type { CatalogEngine } from "./catalog-engine.port.ts";
import {
  BY_WORDS,
  createTiers,
  type RequestOptions,
  type RequestVectors,
  type Settled,
  type SettledOptions,
  type Tier,
  type Tiers,
} from "./dense/tiers.ts";
import { untilAborted } from "./dense/until-aborted.ts";

/** The engine with the embedders above it: what is put is embedded, and requests become vectors. */
export interface Catalog {
  /** What stores and searches the tools. Write through the catalog, so that tools are embedded. */
  readonly engine: CatalogEngine;
  /** Opens the engine and embeds what it has no vectors of. Idempotent; the other methods do it if it was not done. */
  open(options?: { readonly signal?: AbortSignal }): Promise<void>;
  readonly opened: boolean;
  /** How many tools there were after the last change made here. */
  readonly size: number;
  /** Names what would answer now: a tier, two mixed (`tuned+static`) while the better one is still learning the tools, or `lexical`. */
  readonly tier: string;
  /** Adds or replaces tools. Those whose content hash is unchanged are neither written nor embedded again. */
  upsert(
    tools: readonly Tool[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly indexed: number; readonly unchanged: number }>;
  /** Returns how many there were. */
  delete(ids: readonly string[]): Promise<number>;
  /** The vectors of a request's texts, of the tiers that can answer it. */
  request(texts: readonly string[], options?: RequestOptions): Promise<RequestVectors>;
  /** Resolves when every tier, up to the named one if there is one, knows every tool or has failed. */
  settled(options?: SettledOptions): Promise<Settled>;
  healthCheck(): Promise<{ readonly store: boolean; readonly embedder?: boolean }>;
  close(): Promise<void>;
}

/** What a catalog works with. It opens and closes all of it. */
export interface CatalogParts {
  readonly engine: CatalogEngine;
  /** Embedders from the least to the best, or what loads them with the first use. Without any, tools are found by their words alone. */
  readonly tiers?: readonly Tier[] | (() => Promise<readonly Tier[]>);
  readonly emit: Emit;
  readonly clock: Clock;
}

/** Tools left without a vector that one upsert tries to embed again. */
const RETRIED = 64;

/** Creates a catalog, not yet opened. */
export function createCatalog({ engine, tiers: given = [], emit, clock }: CatalogParts): Catalog {
  let loaded: readonly Tier[] | undefined;
  let tiers = typeof given === "function" ? undefined : useTiers(given);
  let size = 0;
  let state: "new" | "open" | "closed" = "new";
  let opening: Promise<void> | undefined;
  let lastChange: Promise<unknown> = Promise.resolve();

  function useTiers(all: readonly Tier[]): Tiers | undefined {
    loaded = all;
    return createTiers({ tiers: all, engine, size: () => size, emit, clock });
  }

  async function load(): Promise<void> {
    if (loaded === undefined && typeof given === "function") tiers = useTiers(await given());
    await engine.open();
    size = await engine.count();
    await tiers?.open();
    if (state === "new") state = "open";
  }

  async function open({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (state === "closed") {
      throw new ArsenalError("CLOSED", "The catalog was closed and takes no more work. Create a new one.", {
        fix: "Create a new catalog.",
      });
    }
    if (state === "open") return;
    opening ??= load().finally(() => (opening = undefined));
    await untilAborted(opening, signal);
  }

  /** Changes run one after the other, so that a tool's vectors are never those of an earlier change. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = lastChange.then(work, work);
    lastChange = result.catch(() => {});
    return result;
  }

  async function applyUpsert(
    tools: readonly Tool[],
    signal: AbortSignal | undefined,
  ): Promise<{ indexed: number; unchanged: number }> {
    const latest = new Map(tools.map((tool) => [tool.id, tool]));
    const { changed } = await engine.put([...latest.values()], signal ? { signal } : {});
    if (changed.length > 0) size = await engine.count();
    const missing = new Set(tiers?.missing());
    const due = new Set(changed);
    // An upsert that was cancelled while it embedded comes again with the same tools.
    for (const id of latest.keys()) if (missing.delete(id)) due.add(id);
    const again = missing.size === 0 ? [] : await engine.get([...missing].slice(0, RETRIED));
    await tiers?.embed(
      [...due].flatMap((id) => latest.get(id) ?? []),
      again,
      signal,
    );
    return { indexed: changed.length, unchanged: latest.size - changed.length };
  }

  return {
    engine,
    open,
    get opened() {
      return state === "open";
    },
    get size() {
      return size;
    },
    get tier() {
      return tiers?.answering ?? "lexical";
    },
    async upsert(tools, { signal } = {}) {
      await open(signal ? { signal } : {});
      return inTurn(() => applyUpsert(tools, signal));
    },
    async delete(ids) {
      await open();
      return inTurn(async () => {
        const count = await engine.delete(ids);
        size = await engine.count();
        tiers?.forget(ids);
        return count;
      });
    },
    async request(texts, options = {}) {
      await open(options.signal ? { signal: options.signal } : {});
      return (await tiers?.request(texts, options)) ?? BY_WORDS;
    },
    async settled(options = {}) {
      await open(options.signal ? { signal: options.signal } : {});
      await untilAborted(lastChange, options.signal);
      return (await tiers?.settled(options)) ?? { pending: 0 };
    },
    async healthCheck() {
      const [engineIsWell, embeddersAreWell] = await Promise.all([engine.healthCheck(), tiers?.healthCheck()]);
      return { store: engineIsWell, ...(embeddersAreWell ? { embedder: embeddersAreWell.every(Boolean) } : {}) };
    },
    async close() {
      if (state === "closed") return;
      state = "closed";
      // Begun first: what goes on in the background is not worth waiting for.
      const stopping = tiers?.close();
      await opening?.catch(() => {});
      await lastChange;
      await (stopping ?? tiers?.close());
      const outcomes = await Promise.allSettled([
        engine.close(),
        ...(loaded ?? []).map(({ embedder }) => embedder.close?.()),
      ]);
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}
