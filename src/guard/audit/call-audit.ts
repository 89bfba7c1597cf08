import { messageOf } from "../../errors/show-value.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit, EventMap, EventName } from "../../observe/events.ts";
import type { AuditedArguments, AuditLog, AuditRecord } from "../audit.port.ts";
import { describeArguments } from "./describe-arguments.ts";

/** Audits calls, and decides what happens to calls whose record cannot be stored. */
export interface CallAudit {
  /** Describes a call's arguments for its record, as configured unless `as` is given. Call it before the tool can change them. */
  describe(args: Readonly<Record<string, unknown>>, as?: "shape"): AuditedArguments;
  /**
   * Returns why a call may not run now, or undefined if it may. Returns undefined at once unless the log may be failing and the call must be
   * recorded: because the audit is strict, its toolset requires it, or the call may change something and such calls are refused.
   */
  refusal(toolset?: string, changes?: boolean): Promise<string | undefined> | undefined;
  /**
   * Stores a record. Await it before you answer the call: the record then survives a crash of this process. Resolves to the reason if a required
   * record is not stored. While the log fails or hangs, returns undefined for an optional record. Never rejects.
   */
  record(record: AuditRecord): Promise<string | undefined> | undefined;
  /** Waits for all earlier records, like `record`. For records made from events. */
  settled(): Promise<unknown> | undefined;
  /** Records missing records in the log, if possible. The log itself stays open. */
  close(): Promise<void>;
}

export interface CallAuditOptions {
  readonly log: AuditLog;
  readonly emit: Emit;
  readonly clock: Clock;
  /** True refuses calls that cannot be recorded, and withholds the results of those that ran. False only reports them as events. */
  readonly strict: boolean;
  /** True refuses calls that may change something while the log fails, even if the audit is not strict. Defaults to false. */
  readonly refusesChanges?: boolean;
  /** Returns whether calls through a toolset must be recorded even if the audit is not strict. By default none must. */
  readonly mustRecord?: (toolset: string) => boolean;
  /** Whether arguments are stored as they are, or as a hash and their types. Defaults to `shape`. */
  readonly arguments?: "shape" | "full";
  readonly redact?: (text: string) => string;
}

/** The interval of failure reports, and of retries without a call, while the log fails. */
const REPORT_EVERY_MS = 30_000;

/** The interval of progress checks while calls wait for the log. */
const CHECK_EVERY_MS = 500;

/** The number of checks without progress after which calls stop waiting. Not a deadline, because all timers of a suspended process are overdue. */
const PATIENT_CHECKS = 4;

const CRASH_SAFE = { survives: "crash" } as const;

export function createCallAudit(options: CallAuditOptions): CallAudit {
  const {
    log,
    emit,
    clock,
    strict,
    refusesChanges = false,
    mustRecord,
    arguments: mode = "shape",
    redact = (text) => text,
  } = options;
  const isNeeded = (toolset: string | undefined): boolean =>
    strict || (toolset !== undefined && mustRecord?.(toolset) === true);
  /** Records lost since the log last worked. */
  let lost = 0;
  let works = false;
  let last: Promise<string | undefined> | undefined;
  const outage = createOutage(emit);
  const patience = createPatience(clock);
  /** Cancels the next report. While one is scheduled, failures wait for it. */
  let cancelReport: (() => void) | undefined;
  let isClosed = false;

  async function keep(record: AuditRecord, needed: boolean): Promise<string | undefined> {
    try {
      const gap = lost > 0 ? fillGap() : undefined;
      const kept = needed ? log.append(record) : log.append(record, CRASH_SAFE);
      await (gap === undefined ? kept : Promise.all([gap, kept]));
      noteSuccess();
      return undefined;
    } catch (error) {
      lost++;
      return noteFailure(error);
    }
  }

  /** Records in the log how many records are missing. */
  async function fillGap(): Promise<void> {
    const records = lost;
    lost = 0;
    try {
      await log.append({ kind: "gap", records });
    } catch (error) {
      lost += records;
      throw error;
    }
  }

  /** Checks that the log can be opened, or, after a failure, that it can be written again. */
  async function tryLog(): Promise<string | undefined> {
    try {
      await (lost > 0 ? fillGap() : log.head());
      noteSuccess();
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  function noteSuccess(): void {
    works = true;
    patience.renew();
    outage.end();
  }

  function noteFailure(error: unknown): string {
    const message = messageOf(error);
    works = false;
    patience.end();
    outage.count(message);
    // Runs after this turn of the event loop, so one event reports all records that fail together, for example in one write.
    if (cancelReport === undefined) {
      cancelReport = () => {};
      queueMicrotask(report);
    }
    return message;
  }

  function report(): void {
    outage.report(works);
    if (isClosed) return;
    cancelReport = clock.after(REPORT_EVERY_MS, () => void reportAgain(), { background: true });
  }

  async function reportAgain(): Promise<void> {
    if (lost > 0) await tryLog();
    if (outage.unreported > 0 || lost > 0) report();
    else cancelReport = undefined;
  }

  return {
    describe: (args, as) => describeArguments(args, as ?? mode, redact),
    refusal: (toolset, changes = false) =>
      !works && (isNeeded(toolset) || (changes && refusesChanges)) ? tryLog() : undefined,
    record(record) {
      const needed = isNeeded(record.kind === "call" ? record.toolset : undefined);
      last = keep(withRedactedTexts(record, redact), needed);
      return needed ? last : patience.wait(last);
    },
    settled: () => last && (strict ? last : patience.wait(last)),
    async close() {
      isClosed = true;
      cancelReport?.();
      // Record the missing records before the process ends.
      if (lost > 0) await tryLog();
      if (outage.unreported > 0) outage.report(works);
    },
  };
}

/** Reports an outage: its beginning, periodically its duration, and its end. */
function createOutage(emit: Emit) {
  let unreported = 0;
  let missing = 0;
  let message = "";
  let isOpen = false;

  function reportFailures(): void {
    if (unreported > 0) emit("audit-failed", { records: unreported, message });
    unreported = 0;
  }

  return {
    /** Records lost since the last report. */
    get unreported(): number {
      return unreported;
    },
    count(why: string): void {
      unreported++;
      missing++;
      message = why;
    },
    report(isOver: boolean): void {
      reportFailures();
      isOpen = !isOver;
      if (isOver) missing = 0;
    },
    /** Does nothing unless the beginning of the outage was reported, so that an unstable log does not cause a report per failure. */
    end(): void {
      if (!isOpen) return;
      reportFailures();
      emit("audit-restored", { records: missing });
      isOpen = false;
      missing = 0;
    },
  };
}

/** Lets calls wait for the log while it makes progress. */
function createPatience(clock: Clock) {
  const waiting = new Set<() => void>();
  let isOver = false;
  let progress = 0;
  let isChecking = false;

  function check(before: number, idle: number): void {
    if (waiting.size === 0 || idle === PATIENT_CHECKS) {
      isChecking = false;
      if (waiting.size > 0) end();
      return;
    }
    const next = (): void => check(progress, progress === before ? idle + 1 : 0);
    clock.after(CHECK_EVERY_MS, next, { background: true });
  }

  /** Releases all waiting calls, and lets new ones pass until the log works again. */
  function end(): void {
    isOver = true;
    for (const letGo of waiting) letGo();
  }

  return {
    /** Resolves when a record was stored or lost, or when calls stop waiting for the log. */
    wait(kept: Promise<unknown>): Promise<undefined> | undefined {
      if (isOver) return undefined;
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const letGo = (): void => {
        waiting.delete(letGo);
        resolve(undefined);
      };
      waiting.add(letGo);
      void kept.then(letGo);
      if (!isChecking) {
        isChecking = true;
        check(progress, 0);
      }
      return promise;
    },
    renew(): void {
      progress++;
      isOver = false;
    },
    end,
  };
}

const RECORDED: { readonly [Name in EventName]?: (data: EventMap[Name]) => AuditRecord } = {
  "confirmation-requested": ({ id, toolId, principal: by }) => ({
    kind: "approval",
    id,
    toolId,
    outcome: "requested",
    by,
  }),
  "confirmation-resolved": ({ id, toolId, outcome, by, note }) => {
    const given = { ...(by !== undefined && { by }), ...(note !== undefined && { note }) };
    return { kind: "approval", id, toolId, outcome, ...given };
  },
  "confirmation-refused": ({ id, toolId = "(unknown)", because, by, tenant }) => {
    return { kind: "approval", id, toolId, outcome: "refused", because, by, ...(tenant !== undefined && { tenant }) };
  },
  "scan-failed": ({ toolId, where, action }) => ({ kind: "scan-failed", toolId, where, outcome: action }),
  "pin-accepted": ({ id, hash, previousHash, by }) => {
    const previous = previousHash !== undefined && { previousContentHash: previousHash };
    return { kind: "pin-accepted", toolId: id, contentHash: hash, ...previous, by };
  },
  "pin-refused": ({ id, ...refused }) => ({ kind: "pin-refused", toolId: id, ...refused }),
};

/** Wraps `emit` to also record changes of approvals and pins, and failed scans. */
export function withAudit(emit: Emit, audit: CallAudit): Emit {
  return (name, data) => {
    emit(name, data);
    const record = RECORDED[name]?.(data);
    if (record !== undefined) void audit.record(record);
  };
}

/** Redacts a record's own texts, which are ids that a caller may have chosen. Its arguments were already redacted. */
function withRedactedTexts(record: AuditRecord, redact: (text: string) => string): AuditRecord {
  const members = Object.entries(record).map(([name, member]: [string, unknown]) => [
    name,
    typeof member === "string" ? redact(member) : name === "targets" ? (member as string[]).map(redact) : member,
  ]);
  return Object.fromEntries(members) as AuditRecord;
}
