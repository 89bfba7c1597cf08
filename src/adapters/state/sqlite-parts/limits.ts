import type { Clock } from "../../../observe/clock.ts";
import { createBreakerWatch } from "../../../state/breaker-watch.ts";
import { releasePass, serveWaiting, takeRetry, tryAdmit } from "../../../state/limit-rules.ts";
import type { Admission, AdmitRequest, Limits, Pass } from "../../../state/limits.port.ts";
import { createLookout } from "../../../state/lookout.ts";
import type { RenewedPresence } from "../../../state/renewed-presence.ts";
import { ABORTED, createWaitingCalls } from "../../../state/waiting-calls.ts";
import type { Database, StateFile } from "./file.ts";
import { limitTables } from "./limit-tables.ts";
import type { Poller } from "./poller.ts";

/** How often a waiting call checks whether another process freed a place for it. */
const LOOK_FOR_PLACES_MS = 20;

/** How often a waiting call checks for places of lost holders. */
const LOOK_FOR_LOST_MS = 250;

/** How long a place is reserved for another process's call, until that process takes it. */
const CLAIM_MS = 2_000;

/** The polling interval for breakers that other processes open or close. */
const LOOK_FOR_BREAKERS_MS = 200;

/** The number of changes between two sweeps. */
const CHANGES_A_SWEEP = 512;

interface WaiterRow {
  readonly n: number;
  readonly id: string;
  readonly request: string;
  readonly answer: string | null;
}

/**
 * Keeps limits in a shared file. The process that frees a place admits the first matching call. The process of that call reads the answer from the
 * file.
 */
export function createSqliteLimits(
  file: StateFile,
  poller: Poller,
  clock: Clock,
  presence: RenewedPresence,
): Limits & {
  /** Releases everything that this process holds. */
  close(): void;
} {
  let lastId = 0;
  let changes = 0;
  const calls = createWaitingCalls(clock, lookForPlaces, (id) => {
    changing((database, now) => leave(database, id, now)).then(run, () => {});
  });
  const { waiting, held } = calls;
  const breakers = createBreakerWatch(() => poller.add(tellBreakers, LOOK_FOR_BREAKERS_MS));
  presence.onLost(() => {
    for (const { id, request } of waiting.values()) void askAgain(id, request).catch(() => {});
  });

  /** Runs a rule in a transaction. Limits need not survive a power failure, so calls do not wait for the disk. */
  function changing<Value>(step: (database: Database, now: number) => Value): Promise<Value> {
    return file.change(
      (database) => {
        if (++changes % CHANGES_A_SWEEP === 0) sweep(database, clock.now());
        return step(database, clock.now());
      },
      { durable: false },
    );
  }

  /** Admits the waiting calls that can run now, in any process. Returns a function that answers the calls of this process. */
  function serve(database: Database, now: number): () => void {
    const rows = database.all<WaiterRow>("SELECT n, id, request, answer FROM waiter WHERE until > :now ORDER BY n", {
      now,
    });
    const answers: (() => void)[] = [];
    const answer = ({ n, id }: { readonly n: number; readonly id: string }, admission: Admission): void => {
      if (waiting.has(id)) {
        database.run("DELETE FROM waiter WHERE n = :n", { n });
        answers.push(() => settle(id, admission));
      } else {
        database.run("UPDATE waiter SET answer = :answer WHERE n = :n", { n, answer: JSON.stringify(admission) });
      }
    };
    const unanswered: { readonly n: number; readonly id: string; readonly request: AdmitRequest }[] = [];
    for (const { n, id, request: text, answer: given } of rows) {
      const isMine = waiting.has(id);
      // A call of another process is answered only once, because that process may have ended.
      if (!isMine && given !== null) continue;
      const request = JSON.parse(text) as AdmitRequest;
      const admission = given === null ? undefined : (JSON.parse(given) as Admission);
      if (admission !== undefined && claim(database, admission, now + request.holdMs, now))
        answer({ n, id }, admission);
      else unanswered.push({ n, id, request: isMine ? request : { ...request, holdMs: CLAIM_MS } });
    }
    serveWaiting(limitTables(database), unanswered, now, answer);
    return () => answers.forEach((tellOne) => tellOne());
  }

  function settle(id: string, admission: Admission): void {
    const waiter = waiting.get(id);
    if (waiter !== undefined) waiter.answer(admission);
    // The call was cancelled after the transaction, so its pass is released.
    else if (admission.admitted)
      void changing((database, now) => letGo(database, admission.pass, now)).then(run, () => {});
  }

  function letGo(database: Database, pass: Pass, now: number): () => void {
    releasePass(limitTables(database), pass, "neutral", now);
    return serve(database, now);
  }

  function lookForPlaces(): () => void {
    const look = (): Promise<void> => changing(serve).then(run);
    const stopPolling = poller.add(() => void look().catch(() => {}), LOOK_FOR_PLACES_MS);
    const lookout = createLookout(clock, LOOK_FOR_LOST_MS, look);
    return () => {
      stopPolling();
      lookout.stop();
    };
  }

  /** Admits a call, or puts it into the queue if it may wait. */
  function admitOrQueue(database: Database, id: string, request: AdmitRequest, now: number): Admission | undefined {
    const admission = tryAdmit(limitTables(database), request, id, now);
    const { waitMs = 0 } = request;
    if (admission.admitted || admission.because !== "places" || waitMs <= 0) return admission;
    const sql = "INSERT INTO waiter (id, request, until) VALUES (:id, :request, :until)";
    database.run(sql, { id, request: JSON.stringify(request), until: now + waitMs });
    return undefined;
  }

  /** Puts a waiting call back into the queue after another process removed it. */
  async function askAgain(id: string, request: AdmitRequest): Promise<void> {
    const admission = await changing((database, now) => admitOrQueue(database, id, request, now));
    if (admission !== undefined) settle(id, admission);
  }

  /** Leaves the queue. Releases the pass if another process has already admitted the call. */
  function leave(database: Database, id: string, now: number): () => void {
    const row = database.get<WaiterRow>("DELETE FROM waiter WHERE id = :id RETURNING answer", { id });
    const answer = row?.answer === null || row === undefined ? undefined : (JSON.parse(row.answer) as Admission);
    return answer?.admitted === true ? letGo(database, answer.pass, now) : () => {};
  }

  function tellBreakers(): void {
    const sql = "SELECT key, probe_at AS stored, probe_at AS probeAt FROM breaker WHERE probe_at IS NOT NULL";
    breakers.update(file.read((database) => database.all<{ key: string; stored: number; probeAt: number }>(sql)));
  }

  function afterBreakerChange(): void {
    if (breakers.isWatched) tellBreakers();
  }

  return {
    async admit(request, { signal } = {}) {
      if (signal?.aborted) return ABORTED;
      if (request.holdMs > 0) {
        const entering = presence.enter();
        if (typeof entering !== "string") await entering;
      }
      const id = `${presence.id}:${++lastId}`;
      let wait: ReturnType<typeof calls.enqueue> | undefined;
      try {
        const { admission, told } = await changing((database, now) => {
          const others = serve(database, now);
          const first = admitOrQueue(database, id, request, now);
          if (first === undefined) wait = calls.enqueue(id, request);
          return { admission: first, told: others };
        });
        told();
        if (admission === undefined) return (await wait?.(signal)) ?? ABORTED;
        calls.hold(request, admission);
        return admission;
      } catch (error) {
        calls.drop(id);
        throw error;
      }
    },
    async release(pass, outcome, spent) {
      const { released, told } = await changing((database, now) => ({
        released: releasePass(limitTables(database), pass, outcome, now, spent),
        told: serve(database, now),
      }));
      held.delete(pass.id);
      told();
      if (released.breaker !== undefined) afterBreakerChange();
      return released;
    },
    retry: (budget) => changing((database, now) => takeRetry(limitTables(database), budget, now)),
    watchBreakers: breakers.watch,
    async forget(key) {
      await changing((database) => limitTables(database).setBreaker(key, undefined));
      afterBreakerChange();
    },
    close() {
      if (waiting.size === 0 && held.size === 0) return;
      for (const { answer } of waiting.values()) answer(ABORTED);
      const passes = [...held.values()];
      held.clear();
      const all = changing((database, now) => {
        database.run("DELETE FROM waiter WHERE id LIKE :mine", { mine: `${presence.id}:%` });
        for (const pass of passes) releasePass(limitTables(database), pass, "neutral", now);
        return serve(database, now);
      });
      all.catch(() => {});
    },
  };
}

function run(told: () => void): void {
  told();
}

/** Takes a pass that another process issued. Returns false if the pass has expired and its place is free again. */
function claim(database: Database, admission: Admission, until: number, now: number): boolean {
  if (!admission.admitted) return true;
  const { id, probe } = admission.pass;
  const sql = "UPDATE holder SET until = :until WHERE id = :id AND until > :now";
  if (database.run(sql, { id, until, now }) === 0) return false;
  if (probe) database.run("UPDATE breaker SET probe_until = :until WHERE probe_id = :id", { id, until });
  return true;
}

function sweep(database: Database, now: number): void {
  database.run("DELETE FROM window_call WHERE until <= :now", { now });
  database.run("DELETE FROM holder WHERE until <= :now", { now });
  database.run("DELETE FROM quota WHERE until <= :now", { now });
  database.run("DELETE FROM waiter WHERE until <= :now", { now: now - 60_000 });
  database.run("DELETE FROM budget WHERE second < :second", { second: Math.floor(now / 1_000) - 61 });
}
