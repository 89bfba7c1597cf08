import { ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf, showValue } from "../errors/show-value.ts";
import type { Clock } from "../observe/clock.ts";
import type { EventMap } from "../observe/events.ts";
import type { EnsembleSettings, Source } from "./source.port.ts";
import { takeIn, type TakeInParts } from "./take-in.ts";
import { withDeadline } from "./with-deadline.ts";

/** Groups of tools that share one source and its lifecycle. */
export type Ensembles = ReturnType<typeof createEnsembles>;

export interface EnsembleState {
  readonly source: Source;
  readonly state: "connecting" | "connected" | "failed" | "disconnected";
  readonly problem?: string;
}

export interface EnsemblesParts extends Pick<TakeInParts, "registry" | "emit" | "screen" | "review"> {
  readonly clock: Clock;
  /** The timeout for connecting, for listing and for disconnecting, in milliseconds. Defaults to 30,000. */
  readonly connectTimeoutMs?: number;
}

interface Member {
  readonly source: Source;
  /** Fires when the ensemble is removed. */
  readonly controller: AbortController;
  connected: boolean;
  /** Settles when the current listing ends. */
  listing?: Promise<void> | undefined;
  /** True if the tools may have changed since the last listing started. */
  stale: boolean;
  endWatch?: (() => void) | undefined;
  /** Why the last listing failed; undefined if it succeeded. */
  problem?: string | undefined;
}

export function createEnsembles(parts: EnsemblesParts) {
  const { registry, emit, clock, screen, review, connectTimeoutMs = 30_000 } = parts;
  const members = new Map<string, Member>();
  /** Ensembles that failed or were disconnected. They can be added again. */
  const absent = new Map<string, EnsembleState>();
  const claims = new Map<string, string>();
  let closed = false;

  const inTime = <Result>(doing: string, task: (signal: AbortSignal) => Promise<Result>, signal?: AbortSignal) =>
    withDeadline(task, { clock, ms: connectTimeoutMs, doing, ...(signal && { signal }) });

  const list = async (member: Member): Promise<number> => {
    const { source, controller } = member;
    const offered = await inTime("listing its tools", (signal) => source.list({ signal, emit }), controller.signal);
    controller.signal.throwIfAborted();
    if (!Array.isArray(offered)) throw new TypeError(`it listed ${showValue(offered)} instead of an array of tools`);
    const { signal } = controller;
    return takeIn(offered, source, { registry, emit, claims, screen, review, now: Math.round(clock.now()), signal });
  };

  /** Lists a source again. Changes during a listing cause only one more listing, however many there are. */
  const refresh = (member: Member): Promise<void> => {
    member.stale = true;
    if (!member.connected) return Promise.resolve();
    return (member.listing ??= relist(member));
  };

  const relist = async (member: Member): Promise<void> => {
    try {
      while (member.stale && !member.controller.signal.aborted) {
        member.stale = false;
        const tools = await list(member);
        member.problem = undefined;
        emit("ensemble-listed", { ensemble: member.source.name, tools });
      }
    } catch (error) {
      if (!member.controller.signal.aborted) fail(member, error);
    } finally {
      member.listing = undefined;
    }
  };

  const fail = (member: Member, error: unknown): void => {
    const report = failure(member, "could not be listed again", error);
    member.problem = report.message;
    emit("ensemble-failed", report);
  };

  const connect = async (member: Member): Promise<number> => {
    const { source, controller } = member;
    await inTime("connecting", (signal) => source.connect({ signal, emit }), controller.signal);
    // Watches before the first listing, so that no change is missed in between.
    member.endWatch = source.watch?.(() => void refresh(member));
    return list(member);
  };

  const disconnect = async (member: Member): Promise<ArsenalError | undefined> => {
    const { source, controller, endWatch } = member;
    member.connected = false;
    controller.abort(new ArsenalError("CANCELLED", `The ensemble ${showValue(source.name)} was removed`));
    try {
      endWatch?.();
      await inTime("disconnecting", () => source.disconnect());
      emit("ensemble-disconnected", { ensemble: source.name });
      return undefined;
    } catch (cause) {
      const report = failure(member, "could not be disconnected", cause);
      emit("ensemble-failed", report);
      return new ArsenalError("SOURCE_UNAVAILABLE", report.message, { cause });
    }
  };

  return {
    /** Connects a source, registers its tools and follows its changes. Rejects with SOURCE_UNAVAILABLE if it cannot be connected or listed in time. */
    async add(
      source: Source,
      { signal }: { readonly signal?: AbortSignal | undefined } = {},
    ): Promise<{ readonly tools: number }> {
      if (closed)
        throw new ArsenalError(
          "CLOSED",
          `The ensemble ${showValue(source.name)} was added after the arsenal was closed.`,
        );
      refuseName(source.name, members);
      const member: Member = { source, controller: new AbortController(), connected: false, stale: false };
      members.set(source.name, member);
      const cancel = (): void => member.controller.abort(signal?.reason);
      signal?.addEventListener("abort", cancel, { once: true });
      if (signal?.aborted === true) cancel();
      try {
        const tools = await connect(member);
        member.controller.signal.throwIfAborted();
        member.connected = true;
        absent.delete(source.name);
        emit("ensemble-connected", { ensemble: source.name, tools });
        if (member.stale) void refresh(member);
        return { tools };
      } catch (cause) {
        const report = failure(member, "is unavailable", cause);
        if (members.get(source.name) === member) {
          members.delete(source.name);
          absent.set(source.name, { source, state: "failed", problem: report.message });
        }
        emit("ensemble-failed", report);
        release(member);
        const { fix = "Check that the source runs and can be reached, then add it again." } = isArsenalError(cause)
          ? cause.details
          : {};
        const message = report.message.endsWith(fix) ? report.message : `${report.message.replace(/\.$/, "")}. ${fix}`;
        throw new ArsenalError("SOURCE_UNAVAILABLE", message, { field: source.name, fix, cause });
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    },
    /** The ensembles that are connected or connecting, in the order in which they were added. */
    names: (): readonly string[] => [...members.keys()],
    /** The state of each ensemble: first those that are connected or connecting, then those that failed or were disconnected. */
    all: (): readonly EnsembleState[] => [
      ...Array.from(members.values(), ({ source, connected, problem }) => {
        const state = connected ? ("connected" as const) : ("connecting" as const);
        return { source, state, ...(problem !== undefined && { problem }) };
      }),
      ...[...absent.values()].filter(({ source }) => !members.has(source.name)),
    ],
    /** The source's settings for running its tools; empty if the ensemble is unknown. */
    settings: (ensemble: string): EnsembleSettings => members.get(ensemble)?.source ?? {},
    /** Lists an ensemble's source again. Resolves when its tools are registered. Never rejects: a failure is an event. */
    async relist(name: string): Promise<void> {
      const member = members.get(name);
      if (member) await refresh(member);
    },
    /** Reads the source again, bypassing its in-memory copy. Never rejects: `all` reports the problem. */
    async reload(name: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
      const member = members.get(name);
      if (member?.connected !== true) return;
      try {
        await inTime("reading it again", async (each) => member.source.reload?.({ signal: each, emit }), signal);
        await refresh(member);
      } catch (error) {
        fail(member, error);
      }
    },
    /** Disconnects an ensemble and removes its tools. With `keep`, its source can be added again. Returns false for an unknown ensemble. */
    async remove(name: string, { keep = false }: { readonly keep?: boolean } = {}): Promise<boolean> {
      const member = members.get(name);
      const known = member ?? absent.get(name);
      if (known === undefined) return false;
      members.delete(name);
      if (keep) absent.set(name, { source: known.source, state: "disconnected" });
      else absent.delete(name);
      const error = member && (await disconnect(member));
      const own = registry.ofEnsemble(name).map(({ id }) => id);
      await registry.deleteAll([...own, ...(await registry.others({ ensembles: [name] }))]);
      if (error) throw error;
      return true;
    },
    /** Disconnects all ensembles concurrently, and leaves their tools registered. Never rejects: returns the errors. */
    async close(): Promise<readonly ArsenalError[]> {
      closed = true;
      const leaving = [...members.values()];
      members.clear();
      const errors = await Promise.all(leaving.map(disconnect));
      return errors.filter((error) => error !== undefined);
    },
  };
}

/** Disconnects a source that failed. Ignores further errors, because they do not explain the failure. */
function release({ source, endWatch }: Member): void {
  Promise.resolve()
    .then(() => endWatch?.())
    .finally(() => source.disconnect())
    .catch(() => {});
}

function refuseName(name: unknown, members: ReadonlyMap<string, Member>): void {
  const isName = typeof name === "string" && name.trim() !== "";
  if (isName && !members.has(name)) return;
  const shown = showValue(name);
  const what = isName ? `There is already an ensemble named ${shown}` : `An ensemble's name is ${shown}`;
  const fix = isName ? "Give one of them another name, or remove the first." : "Give the source a name.";
  throw fixable("CONFIG_INVALID", `${what}.`, fix, { field: "name", value: name });
}

function failure({ source }: Member, what: string, cause: unknown): EventMap["ensemble-failed"] {
  const { name, kind } = source;
  return { ensemble: name, kind, message: `The ensemble ${showValue(name)} ${what}: ${messageOf(cause)}` };
}
