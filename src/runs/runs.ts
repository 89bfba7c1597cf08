import { randomBytes } from "node:crypto";
import { sha256 } from "../base/crypto.ts";
import { ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import { followSignal } from "../base/turns/follow-signal.ts";
import { untilAborted } from "../base/turns/until-aborted.ts";
import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import type { Approvals } from "../guard/aegis.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { ArsenalEvent, EventChoice } from "../observe/events.ts";
import type { Lease } from "../state/changes.port.ts";
import type { SharedState } from "../state/shared-state.ts";
import { canonicalJson } from "../tool/json/canonical-json.ts";
import { nextDepth } from "./depth.ts";
import { createEndedRuns } from "./ended-runs.ts";
import { RUNS_TOPIC } from "./keys.ts";
import type { RecordedStep, Run, RunEnd, RunHead, RunKind, Runner, RunWait } from "./run.ts";
import { createRunStore } from "./run-store.ts";
import { createRunSteps, type RunSteps } from "./run-steps.ts";
import { followRuns, type RunsMessage } from "./run-watch.ts";

export interface RunRequest {
  readonly kind: RunKind;
  /** JSON data: the input of the runner. */
  readonly work: unknown;
  /** JSON data that identifies equal requests. Defaults to `work`. */
  readonly key?: unknown;
  readonly title: string;
  /** The id of the tool whose call starts the run. */
  readonly tool?: string;
  readonly principal: Principal;
  readonly toolset?: string | undefined;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type RequestIdentity = Pick<RunRequest, "kind" | "key" | "principal" | "toolset"> & { readonly work?: unknown };

export type Runs = ReturnType<typeof createRuns>;

/** A process that does not renew its lease for this long counts as dead, and other processes continue its runs. */
const LEASE_MS = 10_000;

/** Polling interval of a caller that waits for another process's run, in case the message about its end is lost. */
const LOOK_MS = 250;

/** How often the calls of a long run are written for display. */
const SHOW_MS = 1_000;

/**
 * Runs work that outlives its process. A run that needs an approval is suspended and its finished steps are stored. Once a person has answered, any
 * process repeats the run from the record. Completed calls never run again.
 */
export function createRuns(parts: {
  readonly state: Pick<SharedState, "name" | "documents" | "changes" | "leases">;
  readonly clock: Clock;
  readonly execute: (call: ToolCall) => Promise<ToolResult>;
  readonly approvals: Pick<Approvals, "get" | "answer">;
  readonly subscribe: (listener: (event: ArsenalEvent) => void, options: EventChoice) => () => void;
  /** Loads the part that executes this kind of work and registers its runner with `use`, if this process has one. */
  readonly loadRunner?: (kind: RunKind) => Promise<void>;
  /** Maximum depth of runs that call other runs. */
  readonly mostDepth: number;
  readonly onTurn?: (head: RunHead, calls: number) => void;
}) {
  const { state, clock, approvals, execute } = parts;
  const store = createRunStore(state.documents, clock);
  const endedRuns = createEndedRuns((id) => store.remove(id).catch(() => {}));
  const runners = new Map<RunKind, Runner>();
  const active = new Map<string, { readonly stop: AbortController; readonly turn: Promise<Run | undefined> }>();
  const closing = new AbortController();
  let hasStarted = false;
  const watch = followRuns({
    ...parts,
    store,
    onMessage,
    resume: (id) => resumed(id),
    isActive: (id) => active.has(id),
  });

  function onMessage(message: RunsMessage): void {
    if (message.what === "cancel") active.get(message.id)?.stop.abort(cancelledBy());
  }

  const publish = (message: RunsMessage): Promise<void> => state.changes.publish(RUNS_TOPIC, message);

  /** Notifies other processes once that there are runs which they may have to continue. */
  function announce(id: string): void {
    if (hasStarted) return;
    hasStarted = true;
    publish({ what: "started", id }).catch(() => void (hasStarted = false));
  }

  /** Starts a turn of a run whose lease this process holds. */
  function begin(head: RunHead, lease: Lease, work: unknown, recorded: readonly RecordedStep[], signal?: AbortSignal) {
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal?.reason ?? cancelledBy());
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    const turn = takeTurn(head, lease, work, recorded, stop).finally(() => {
      signal?.removeEventListener("abort", onAbort);
      if (active.get(head.id)?.stop === stop) active.delete(head.id);
    });
    active.set(head.id, { stop, turn });
    return turn;
  }

  async function takeTurn(
    head: RunHead,
    lease: Lease,
    work: unknown,
    recorded: readonly RecordedStep[],
    stop: AbortController,
  ): Promise<Run | undefined> {
    const ending = new AbortController();
    const { signal } = ending;
    const unlinks = [stop.signal, lease.lost, closing.signal].map((each) => followSignal(each, ending));
    const isShared = state.name !== "memory";
    const steps = createRunSteps({ head, recorded, execute, isShared, clock, signal });
    const showing = showCalls(head.id, steps);
    try {
      const end = await runTurn(head, work, recorded, steps, signal);
      showing.stop();
      // Another process continues a run whose lease was lost.
      if (!stop.signal.aborted && closing.signal.aborted) throw closing.signal.reason;
      if (!stop.signal.aborted && signal.aborted) return undefined;
      const kept = stop.signal.aborted
        ? { status: "failed" as const, error: { message: messageOf(stop.signal.reason), code: "CANCELLED" } }
        : end;
      return await settle(head, work, kept, steps, stop.signal.aborted);
    } finally {
      showing.stop();
      for (const unlink of unlinks) unlink();
      await lease.release().catch(() => {});
      void publish({ what: "turned", id: head.id }).catch(() => {});
    }
  }

  async function runTurn(
    head: RunHead,
    work: unknown,
    recorded: readonly RecordedStep[],
    { call, pause }: RunSteps,
    signal: AbortSignal,
  ): Promise<RunEnd> {
    const { id, owner, toolset, startedAt, kind, depth = 1 } = head;
    try {
      const runner = runners.get(kind);
      if (runner === undefined) throw new Error(`This process cannot run a ${kind}.`);
      const keys = recorded.map(({ key }) => key);
      return await runner(work, { id, owner, toolset, startedAt, depth, signal, recorded: keys, call, pause });
    } catch (error) {
      return { status: "failed", error: { message: messageOf(error) } };
    }
  }

  /** Records the end of a turn, unless the run was cancelled meanwhile. */
  async function settle(
    head: RunHead,
    work: unknown,
    end: RunEnd,
    steps: RunSteps,
    isCancelled: boolean,
  ): Promise<Run> {
    const calls = steps.calls();
    const waits = end.status === "waiting" ? steps.waits() : [];
    let ending = end;
    if (end.status === "waiting" && !(await store.setSteps(head.id, steps.steps()))) {
      const message = "The results of its calls are too large to keep while it waits for an approval.";
      ending = { status: "failed", error: { message: `${message} Read less before the call that needs one.` } };
    }
    const { error: _, endedAt: __, ...rest } = head;
    const next: RunHead = {
      ...rest,
      status: isCancelled ? "cancelled" : ending.status,
      waits: ending.status === "waiting" ? waits : [],
      ...(ending.status !== "waiting" && { endedAt: clock.now() }),
      ...(ending.status === "failed" && { error: ending.error }),
    };
    await store.setCalls(head.id, calls);
    if (ending.result !== undefined) await store.setResult(head.id, ending.result);
    if (ending.status === "waiting") await store.setAsked(head.asked, head.id);
    const kept = await store.head(head.id);
    const isOver = kept?.head.status === "cancelled" || !(await store.setHead(next, kept?.version ?? "absent"));
    const last = isOver ? ((await store.head(head.id))?.head ?? next) : next;
    if (last.status === "waiting") await store.setOpen({ id: head.id, waits });
    else await store.setEnded(head.id);
    if (last.status !== "waiting") await endedRuns.add(head.id, head.owner, sizeOf(work, ending.result, calls));
    parts.onTurn?.(last, calls.length);
    return { ...last, work, calls, ...(ending.result !== undefined && { result: ending.result }) };
  }

  /** Writes the calls of a long run regularly, for display. */
  function showCalls(id: string, steps: RunSteps): { stop(): void } {
    let shown = 0;
    let cancel = next();
    function next(): () => void {
      return clock.after(SHOW_MS, show, { background: true });
    }
    function show(): void {
      const calls = steps.calls();
      if (calls.length > shown) void store.setCalls(id, calls).catch(() => {});
      shown = calls.length;
      cancel = next();
    }
    return { stop: () => cancel() };
  }

  async function stillWaits(waits: readonly RunWait[]): Promise<boolean> {
    const found = await Promise.all(waits.map(({ confirmationId }) => approvals.get(confirmationId)));
    return found.every((approval) => approval?.state === "pending");
  }

  /** Takes a run over if no process holds it and it can continue. Returns undefined if the run does not exist, or another process holds it. */
  async function resumed(id: string, signal?: AbortSignal): Promise<Run | undefined> {
    if (closing.signal.aborted) return undefined;
    const own = active.get(id);
    if (own !== undefined) return untilAborted(own.turn, signal);
    const lease = await state.leases.acquire(`run:${id}`, { ttlMs: LEASE_MS });
    if (lease === undefined) return undefined;
    try {
      const found = await store.head(id);
      const isOpen = found?.head.status === "running" || found?.head.status === "waiting";
      // A process without a runner for this kind leaves the run to other processes.
      if (isOpen && !runners.has(found.head.kind)) await parts.loadRunner?.(found.head.kind);
      const canRun = found !== undefined && runners.has(found.head.kind);
      if (!canRun || !isOpen || (await waitsStill(found.head))) {
        await lease.release();
        return undefined;
      }
      const [work, recorded] = await Promise.all([store.work(id), store.steps(id)]);
      const head: RunHead = { ...found.head, status: "running" };
      if (!(await store.setHead(head, found.version))) {
        await lease.release();
        return undefined;
      }
      return await afterTurn(id, begin(head, lease, work, recorded, signal), signal);
    } catch (error) {
      await lease.release().catch(() => {});
      throw error;
    }
  }

  const waitsStill = async ({ status, waits }: RunHead): Promise<boolean> =>
    status === "waiting" && (await stillWaits(waits));

  /** Handles the end of a turn. If an approval was answered before the run was recorded as waiting for it, the run continues. */
  async function afterTurn(id: string, turn: Promise<Run | undefined>, signal?: AbortSignal): Promise<Run> {
    const run = await turn;
    if (run !== undefined && (run.status !== "waiting" || (await stillWaits(run.waits)))) return run;
    return follow(id, signal);
  }

  /** Resolves when the run has ended or waits for a person, in any process. */
  async function follow(id: string, signal?: AbortSignal): Promise<Run> {
    for (;;) {
      const turned = watch.next(id, LOOK_MS, signal);
      const found = await store.head(id);
      if (found === undefined) throw unknownRun(id);
      const { head } = found;
      if (head.status !== "running" && !(head.status === "waiting" && !(await stillWaits(head.waits)))) {
        turned.cancel();
        return (await store.get(id)) ?? Promise.reject(unknownRun(id));
      }
      const taken = await resumed(id, signal);
      if (taken !== undefined) {
        turned.cancel();
        return taken;
      }
      await turned.promise;
      signal?.throwIfAborted();
    }
  }

  return {
    use: (kind: RunKind, runner: Runner): void => void runners.set(kind, runner),

    /**
     * Runs work until it ends or waits for a person. A request that is repeated while its run waits continues that run, and the caller gets its
     * outcome.
     */
    async start(request: RunRequest): Promise<Run> {
      if (closing.signal.aborted) throw new ArsenalError("CLOSED", "This arsenal was closed.");
      watch.start();
      const { kind, title, tool, principal: owner, toolset, traceId, spanId, parentSpanId, work, signal } = request;
      const hash = askedHash(request);
      const earlier = await store.asked(hash);
      if (earlier !== undefined && (await store.head(earlier)) !== undefined) {
        const run = await follow(earlier, signal);
        if (run.status !== "waiting") await store.forgetAsked(hash);
        return run;
      }
      const depth = nextDepth(tool ?? "The program", parts.mostDepth);
      const now = clock.now();
      const head: RunHead = {
        id: newId(now),
        kind,
        title,
        ...(tool !== undefined && { tool }),
        owner,
        ...(toolset !== undefined && { toolset }),
        status: "running",
        startedAt: Math.round(now),
        traceId,
        spanId,
        ...(parentSpanId !== undefined && { parentSpanId }),
        depth,
        waits: [],
        asked: hash,
      };
      const lease = await state.leases.acquire(`run:${head.id}`, { ttlMs: LEASE_MS });
      if (lease === undefined) throw new ArsenalError("STORE_FAILED", "The lease of a new run is already held.");
      await store.setWork(head.id, work);
      await Promise.all([store.setHead(head, "absent"), store.setOpen({ id: head.id, waits: [] })]);
      announce(head.id);
      return afterTurn(head.id, begin(head, lease, work, [], signal), signal);
    },

    /** Returns true if the run of an equal request was suspended and its outcome was not returned yet. */
    async isOpen(request: RequestIdentity): Promise<boolean> {
      const id = await store.asked(askedHash(request));
      return id !== undefined && (await store.head(id)) !== undefined;
    },

    /** Continues a run that waits, or whose process died. Resolves when the run ends or waits again. */
    async resume(id: string, options: { readonly signal?: AbortSignal } = {}): Promise<Run> {
      watch.start();
      return follow(id, options.signal);
    },

    /**
     * Ends a run and its calls, in whichever process it runs, and withdraws the approvals that it waits for. Returns false if it has already ended.
     */
    async cancel(id: string): Promise<boolean> {
      for (;;) {
        const found = await store.head(id);
        if (found === undefined || (found.head.status !== "running" && found.head.status !== "waiting")) return false;
        const { head, version } = found;
        const error = { message: "The run was cancelled.", code: "CANCELLED" };
        const ended: RunHead = { ...head, status: "cancelled", waits: [], endedAt: clock.now(), error };
        if (!(await store.setHead(ended, version))) continue;
        active.get(id)?.stop.abort(cancelledBy());
        await publish({ what: "cancel", id });
        await store.setEnded(id);
        for (const { confirmationId } of head.waits)
          await approvals.answer(confirmationId, "deny", head.owner).catch(() => {});
        return true;
      }
    },

    /** Returns a run with its calls; undefined if it does not exist. */
    get: (id: string): Promise<Run | undefined> => store.get(id),
    /** Returns runs without their calls, newest first. `after` is the last id of the previous page. */
    list: (page: { readonly after?: string; readonly limit: number }): Promise<readonly RunHead[]> => store.heads(page),
    /** Starts to continue the runs of processes that died, and runs whose approval was answered in another process. */
    watch: (): void => watch.start(),
    /** Stops the runs of this process; other processes continue them. */
    async close(): Promise<void> {
      closing.abort(new ArsenalError("CLOSED", "The arsenal was closed while the run was going on."));
      await watch.close();
      await Promise.allSettled([...active.values()].map(({ turn }) => turn));
    },
  };
}

/** Identifies a request by its caller and its work. */
function askedHash({ kind, work, key = work, principal, toolset }: RequestIdentity) {
  const { id, tenant, local } = principal;
  return sha256(canonicalJson([kind, key, id, tenant ?? null, local, toolset ?? null]), "base64url");
}

/** Estimates the bytes that an ended run takes in the state. */
function sizeOf(work: unknown, result: unknown, calls: readonly unknown[]): number {
  return JSON.stringify([work, result]).length + (calls.length + 2) * 500;
}

/** The largest time in milliseconds that fits into nine digits of base 36. */
const MOST_TIME = 36 ** 9 - 1;

/** Later ids sort first. */
function newId(now: number): string {
  return `${(MOST_TIME - Math.round(now)).toString(36).padStart(9, "0")}${randomBytes(9).toString("hex")}`;
}

function cancelledBy(): ArsenalError {
  return new ArsenalError("CANCELLED", "The run was cancelled.");
}

function unknownRun(id: string): ArsenalError {
  const fix = "List the runs. Runs are kept for a day, up to 1,000 for each caller.";
  return fixable("INPUT_INVALID", `There is no run "${id.slice(0, 100)}".`, fix, { field: "id", value: id });
}
