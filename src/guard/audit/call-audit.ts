import { messageOf } from "../../errors/show-value.ts";
import type { Emit, EventMap, EventName } from "../../observe/events.ts";
import type { AuditedArguments, AuditLog, AuditRecord } from "../audit.port.ts";
import { describeArguments } from "./describe-arguments.ts";

/** The audit as calls see it: what becomes of a call whose record cannot be kept is decided here. */
export interface CallAudit {
  /** What the audit keeps of a call's arguments, as configured unless `as` is given. Ask before the tool can change them. */
  describe(args: Readonly<Record<string, unknown>>, as?: "shape"): AuditedArguments;
  /**
   * Why no call may run now; undefined if it may. Returns undefined at once unless the call must be recorded (the audit is strict, or the
   * toolset that the call goes through demands it) and the log is not known to work.
   */
  refusal(toolset?: string): Promise<string | undefined> | undefined;
  /** Keeps a record. If it must be kept, resolves once it is, or to the reason why not; otherwise returns undefined. Never rejects. */
  record(record: AuditRecord): Promise<string | undefined> | undefined;
}

export interface CallAuditOptions {
  readonly log: AuditLog;
  readonly emit: Emit;
  /** Whether a call that cannot be recorded is refused. Otherwise it is only reported as an event. */
  readonly strict: boolean;
  /** Whether calls through a toolset must be recorded even if the audit is not strict. Defaults to no. */
  readonly mustRecord?: (toolset: string) => boolean;
  /** Whether arguments are kept as they are, or as a hash and their types. Defaults to `shape`. */
  readonly arguments?: "shape" | "full";
  /** Redacts secrets in each text that is kept. */
  readonly redact?: (text: string) => string;
}

export function createCallAudit(options: CallAuditOptions): CallAudit {
  const { log, emit, strict, mustRecord, arguments: mode = "shape", redact = (text) => text } = options;
  const isNeeded = (toolset: string | undefined): boolean =>
    strict || (toolset !== undefined && mustRecord?.(toolset) === true);
  /** Records that could not be kept since the log last worked. */
  let lost = 0;
  let works = false;
  let untold = 0;

  /** One event for all that fail together, such as those of one write. */
  function tell(message: string): void {
    if (untold++ === 0) {
      queueMicrotask(() => {
        emit("audit-failed", { records: untold, message });
        untold = 0;
      });
    }
  }

  async function keep(record: AuditRecord): Promise<string | undefined> {
    try {
      await Promise.all([lost > 0 ? fillGap() : undefined, log.append(record)]);
      works = true;
      return undefined;
    } catch (error) {
      lost++;
      works = false;
      const message = messageOf(error);
      tell(message);
      return message;
    }
  }

  /** Says in the log that something is missing from it. */
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

  /** Whether the log can be opened, and written again if it failed. */
  async function tryLog(): Promise<string | undefined> {
    try {
      await (lost > 0 ? fillGap() : log.head());
      works = true;
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  return {
    describe: (args, as) => describeArguments(args, as ?? mode, redact),
    refusal: (toolset) => (!works && isNeeded(toolset) ? tryLog() : undefined),
    record(record) {
      const kept = keep(withRedactedTexts(record, redact));
      return isNeeded(record.kind === "call" ? record.toolset : undefined) ? kept : undefined;
    },
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
  "confirmation-resolved": ({ id, toolId, outcome, by }) => {
    return { kind: "approval", id, toolId, outcome, ...(by !== undefined && { by }) };
  },
  "scan-failed": ({ toolId, where, action }) => ({ kind: "scan-failed", toolId, where, outcome: action }),
  "pin-accepted": ({ id, hash, previousHash, by }) => {
    const previous = previousHash !== undefined && { previousContentHash: previousHash };
    return { kind: "pin-accepted", toolId: id, contentHash: hash, ...previous, by };
  },
};

/** An `emit` that also records what happens to approvals and pins, and what could not be scanned. */
export function withAudit(emit: Emit, audit: CallAudit): Emit {
  return (name, data) => {
    emit(name, data);
    const record = RECORDED[name]?.(data);
    if (record !== undefined) void audit.record(record);
  };
}

/** A record's own texts are ids that a caller may have chosen. What it holds of arguments was redacted when it was described. */
function withRedactedTexts(record: AuditRecord, redact: (text: string) => string): AuditRecord {
  const members = Object.entries(record).map(([name, member]: [string, unknown]) => [
    name,
    typeof member === "string" ? redact(member) : name === "targets" ? (member as string[]).map(redact) : member,
  ]);
  return Object.fromEntries(members) as AuditRecord;
}
