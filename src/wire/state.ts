import type { Surroundings } from "../adapters/surroundings.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { SharedState } from "../state/shared-state.ts";
import { stateType } from "../config/load/chosen-adapters.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";
import { createAdapter } from "./create-adapter.ts";

type StateSettings = Omit<ResolvedConfig["state"], "limits">;

export function configuredState({ state }: Pick<ResolvedConfig, "state">, surroundings: Surroundings): SharedState {
  const { limits, ...own } = state;
  const kept = stateOf(own, surroundings);
  return limits === undefined ? kept : splitState(kept, stateOf(limits, surroundings));
}

function stateOf(settings: StateSettings, surroundings: Surroundings): SharedState {
  const type = stateType(settings);
  return lazyState(type, () => createAdapter("state", type, settings, surroundings));
}

export function stateInFile(file: string, surroundings: Surroundings): SharedState {
  return lazyState("sqlite", () => createAdapter("state", "sqlite", { file }, surroundings));
}

/**
 * Creates a shared state whose adapter is loaded by the first use. If loading fails, the use rejects and the next one retries. `close` loads nothing.
 */
export function lazyState(name: string, load: () => Promise<SharedState>): SharedState {
  let loaded: SharedState | undefined;
  let loading: Promise<SharedState> | undefined;
  let closing: Promise<void> | undefined;
  /** Subscriptions that start once the state is loaded. */
  const waiting = new Set<(state: SharedState) => void>();

  async function open(): Promise<SharedState> {
    if (closing !== undefined && loading === undefined)
      throw new ArsenalError("CLOSED", "This state was closed. Create a new one.");
    return (loading ??= load().then(
      (state) => {
        loaded = state;
        for (const begin of waiting) begin(state);
        waiting.clear();
        return state;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    ));
  }

  function ask<Answer>(one: (state: SharedState) => Answer): Answer | Promise<Awaited<Answer>> {
    return loaded === undefined ? (open().then(one) as Promise<Awaited<Answer>>) : one(loaded);
  }

  function subscribe(one: (state: SharedState) => () => void): () => void {
    if (loaded !== undefined) return one(loaded);
    let end: (() => void) | undefined;
    const begin = (state: SharedState): void => void (end = one(state));
    waiting.add(begin);
    open().catch(() => {}); // the next call rejects with the reason
    return () => {
      waiting.delete(begin);
      end?.();
    };
  }

  async function close(): Promise<void> {
    const state = loaded ?? (await loading?.catch(() => undefined));
    waiting.clear();
    await state?.close();
  }

  return {
    name,
    documents: {
      get: (...given) => ask(({ documents }) => documents.get(...given)),
      set: (...given) => ask(({ documents }) => documents.set(...given)),
      delete: (...given) => ask(({ documents }) => documents.delete(...given)),
      list: (...given) => ask(({ documents }) => documents.list(...given)),
      keys: (...given) => ask(({ documents }) => documents.keys(...given)),
    },
    limits: {
      admit: (...given) => ask(({ limits }) => limits.admit(...given)),
      release: (...given) => ask(({ limits }) => limits.release(...given)),
      retry: (...given) => ask(({ limits }) => limits.retry(...given)),
      watchBreakers: (listener) => subscribe(({ limits }) => limits.watchBreakers(listener)),
      forget: (key) => ask(({ limits }) => limits.forget(key)),
    },
    changes: {
      publish: (...given) => ask(({ changes }) => changes.publish(...given)),
      subscribe: (...given) => subscribe(({ changes }) => changes.subscribe(...given)),
    },
    leases: { acquire: (...given) => ask(({ leases }) => leases.acquire(...given)) },
    presence: {
      enter: () => ask(({ presence }) => presence.enter()),
      isPresent: (id) => ask(({ presence }) => presence.isPresent(id)),
    },
    healthCheck: () => ask((state) => state.healthCheck()).catch(() => false),
    close: () => (closing ??= close()),
  };
}

/** Keeps documents in one store, and rates, places, breakers, changes, leases and presence in another. `close` closes both. */
export function splitState(kept: SharedState, counted: SharedState): SharedState {
  return {
    name: `${kept.name}+${counted.name}`,
    documents: kept.documents,
    limits: counted.limits,
    changes: counted.changes,
    leases: counted.leases,
    presence: counted.presence,
    healthCheck: async () => (await Promise.all([kept.healthCheck(), counted.healthCheck()])).every(Boolean),
    async close() {
      const outcomes = await Promise.allSettled([counted.close(), kept.close()]);
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}
