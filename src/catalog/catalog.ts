import { fixable } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Tool } from "../tool/tool.ts";
import { createTurns } from "../base/turns/in-order.ts";
import type { Changes, Leases } from "../state/changes.port.ts";
import type { CatalogEngine, EngineChanges } from "./catalog-engine.port.ts";
import type { RequestOptions, RequestVectors, Settled, SettledOptions, Tier, Tiers } from "./dense/tiers.ts";
import { untilAborted } from "../base/turns/until-aborted.ts";
import type { Exclusively } from "./exclusively.ts";
import type { Following } from "./follow.ts";

/** The dependencies of a catalog. The catalog opens and closes all of them. */
export interface CatalogParts {
  readonly engine: CatalogEngine;
  /** Embedders from weakest to strongest, or a function that loads them on first use. Without embedders, tools are found by words only. */
  readonly tiers?: readonly Tier[] | (() => Promise<readonly Tier[]>);
  readonly emit: Emit;
  readonly clock: Clock;
  /** Let processes on the same engine announce changes, and agree on which one embeds. If omitted, each process works independently. */
  readonly changes?: Changes;
  readonly leases?: Leases;
}

/** How long vectors of a model are kept after the model was removed from the configuration, in milliseconds. Other processes may still use it. */
const PRUNE_MS = 3_600_000;

/** The maximum number of tools without a vector that one upsert retries. */
const RETRIED = 64;

/** The vectors of a request that only words can answer. */
const BY_WORDS: RequestVectors = { tiers: [], vectors: [], embeddingTimeMs: 0, knowsEnough: () => false };

export type Catalog = ReturnType<typeof createCatalog>;

/** Creates a catalog from the engine and the embedders: embeds new tools and converts requests to vectors. Not opened yet. */
export function createCatalog({ engine, tiers: given = [], emit, clock, changes, leases }: CatalogParts) {
  let loaded: readonly Tier[] | undefined;
  let tiers: Tiers | undefined;
  let following: Following | undefined;
  let exclusively: Exclusively | undefined;
  let listener: (found: EngineChanges) => Promise<void> = async () => {};
  const closing = new AbortController();
  let cancelPrune: (() => void) | undefined;
  let size = 0;
  let isShared = false;
  let state: "new" | "open" | "closed" = "new";
  let opening: Promise<void> | undefined;
  /** Prevents that an earlier change overwrites a tool's newer vectors. */
  const turns = createTurns();

  async function load(): Promise<void> {
    loaded ??= typeof given === "function" ? await given() : given;
    await engine.open();
    const { revision, alone = false } = await engine.changes(Number.MAX_SAFE_INTEGER);
    isShared = !alone;
    if (leases) exclusively ??= (await import("./exclusively.ts")).exclusivelyBy(leases);
    const { createTiers } = await import("./dense/tiers.ts");
    const shared = alone ? undefined : exclusively;
    tiers ??= createTiers({ tiers: loaded, engine, size: () => size, emit, clock, exclusively: shared });
    if (changes && !alone) {
      const { follow } = await import("./follow.ts");
      const onRound = (): void => void (tiers?.complete() ?? tiers?.catchUp());
      following ??= follow(revision, { engine, changes, clock, onChanges: applyChanges, onRound });
    }
    size = await engine.count();
    await tiers?.open();
    if (state !== "new") return;
    state = "open";
    schedulePrune();
  }

  async function applyChanges(found: EngineChanges): Promise<void> {
    size = await engine.count();
    tiers?.forget(found.deleted);
    if (found.changed.length > 0 || found.incomplete === true) tiers?.catchUp();
    await listener(found);
  }

  function schedulePrune(): void {
    if (exclusively === undefined || state === "closed") return;
    cancelPrune = clock.after(PRUNE_MS, () => void prune().finally(schedulePrune), { background: true });
  }

  /** Removes vectors of unused models, once every configured model has vectors of every tool. */
  async function prune(): Promise<void> {
    const used = tiers?.complete();
    if (used === undefined) return;
    const removeOthers = async (held: AbortSignal): Promise<void> => {
      for (const model of await engine.models({ signal: held })) {
        if (!used.includes(model)) await engine.deleteVectors(model, { signal: held });
      }
    };
    await exclusively?.("prune", removeOthers, closing.signal).catch(() => {}); // The next round removes them.
  }

  /** Opens the engine and embeds the tools without vectors. Idempotent. The other methods call it if needed. */
  async function open({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    if (state === "closed")
      throw fixable("CLOSED", "The catalog was closed and takes no more work.", "Create a new catalog.");
    if (state === "open") return;
    opening ??= load().finally(() => (opening = undefined));
    await untilAborted(opening, signal);
  }

  async function applyUpsert(tools: readonly Tool[], signal: AbortSignal | undefined) {
    const latest = new Map(tools.map((tool) => [tool.id, tool]));
    const { changed, revision } = await engine.put([...latest.values()], signal ? { signal } : {});
    if (changed.length > 0) following?.made(revision);
    if (changed.length > 0 || following) size = await engine.count();
    const missing = new Set(tiers?.missing());
    const due = new Set(changed);
    // Retries the tools of a cancelled upsert.
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
    /** The engine that stores and searches the tools. Write through the catalog instead, so that tools are embedded. */
    engine,
    open,
    /** Calls `callback` when other processes changed tools, one change at a time. May include changes by this process. Only for shared engines. */
    onChanges(callback: typeof listener): void {
      listener = callback;
    },
    get opened() {
      return state === "open";
    },
    /** True if other processes may change the tools. False until the catalog is opened. */
    get shared() {
      return isShared;
    },
    /** The number of tools after the last change that this process made or received. */
    get size() {
      return size;
    },
    /** The ranker that would answer now: a tier, two tiers combined (`tuned+static`) while the better one is still embedding tools, or `lexical`. */
    get tier() {
      return tiers?.answering ?? "lexical";
    },
    /** Adds or replaces tools. Tools with an unchanged content hash are neither written nor embedded again. */
    async upsert(tools: readonly Tool[], { signal }: { readonly signal?: AbortSignal } = {}) {
      await open({ signal });
      return turns.take(() => applyUpsert(tools, signal));
    },
    /** Returns the number of removed tools. */
    async delete(ids: readonly string[]): Promise<number> {
      await open();
      return turns.take(async () => {
        const count = await engine.delete(ids);
        size = await engine.count();
        tiers?.forget(ids);
        if (count > 0 && following) following.made((await engine.changes(Number.MAX_SAFE_INTEGER)).revision);
        return count;
      });
    },
    /** Returns the vectors of a request's texts, for the tiers that can answer it. */
    async request(texts: readonly string[], options: RequestOptions = {}): Promise<RequestVectors> {
      await open(options);
      return (await tiers?.request(texts, options)) ?? BY_WORDS;
    },
    /** Resolves when every tier, up to the named tier if there is one, has embedded every tool or has failed. */
    async settled(options: SettledOptions = {}): Promise<Settled> {
      await open(options);
      await untilAborted(turns.idle(), options.signal);
      return (await tiers?.settled(options)) ?? { pending: 0 };
    },
    async healthCheck(): Promise<{ readonly store: boolean; readonly embedder?: boolean }> {
      const [engineIsWell, embeddersAreWell] = await Promise.all([engine.healthCheck(), tiers?.healthCheck()]);
      return { store: engineIsWell, ...(embeddersAreWell ? { embedder: embeddersAreWell.every(Boolean) } : {}) };
    },
    async close(): Promise<void> {
      if (state === "closed") return;
      state = "closed";
      closing.abort(new Error("closed"));
      cancelPrune?.();
      // Stopped first, because closing does not wait for background work.
      const stopping = tiers?.close();
      await opening?.catch(() => {});
      await turns.idle();
      await (stopping ?? tiers?.close());
      await following?.close();
      cancelPrune?.();
      const outcomes = await Promise.allSettled([
        engine.close(),
        ...(loaded ?? []).map(({ embedder }) => embedder.close?.()),
      ]);
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}
