import { randomBytes } from "node:crypto";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit, EventMap } from "../observe/events.ts";
import type { Approvals, PendingApproval } from "./aegis.ts";
import {
  type ApprovalRecord,
  argumentsToShow,
  bindingOf,
  difference,
  gone,
  type OpenApproval,
  type Settled,
  sharesTenant,
} from "./approval-record.ts";
import type { PolicyRequest } from "./policy.port.ts";
import type { Principal } from "./principal.ts";
import type { State } from "./state.port.ts";

/** The approvals as the guard uses them: it also asks for them and redeems them. */
export interface ApprovalBook extends Approvals {
  /** The approval this very call waits for: the one it already has, or a new one. */
  request(call: PolicyRequest, reason: string): Promise<{ readonly id: string; readonly reason: string }>;
  /** Whether an approval was given and fits: only the call it was asked for, with the same tool, definition, arguments and caller. */
  check(id: string, call: PolicyRequest): Promise<ApprovalState>;
  /** Uses an approval up where `check` finds it good. */
  redeem(id: string, call: PolicyRequest): Promise<ApprovalState>;
  /** Makes the approval good again that this call redeemed and then did not run with. */
  giveBack(call: PolicyRequest): Promise<void>;
}

export type ApprovalState =
  | { readonly state: "approved" }
  | { readonly state: "pending"; readonly reason: string }
  | { readonly state: "invalid"; readonly reason: string };

export interface ApprovalSettings {
  /** Seconds a request waits for an answer, and again an approval for its use. */
  readonly confirmationTimeoutS: number;
  /** Whether the local operator may approve their own calls. */
  readonly selfApproval: "never" | "local";
}

/** Approvals held at once. Beyond it the oldest expires, so that a caller that asks without end cannot fill the state. */
export const MAX_APPROVALS = 1_000;

const APPROVAL = "approval:";
/** Leads from what an approval is for to its id, so that the same call, made again, does not ask again. */
const ASKED = "approval-asked:";

type Resolution = EventMap["confirmation-resolved"]["outcome"];

/** An open approval, and the version of it that was read. */
interface Read {
  readonly approval: OpenApproval;
  readonly version: number;
}

/**
 * Keeps the calls that wait for a person. What is kept lives in the state, which other processes may share: every step names the version it
 * is based on, so of two approvers, or two calls with one approval, one wins.
 */
export function createApprovals(options: {
  readonly state: State;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly settings: ApprovalSettings;
}): ApprovalBook {
  const { state, clock, emit, settings } = options;
  const timeoutMs = settings.confirmationTimeoutS * 1_000;
  const redeemed = new WeakMap<PolicyRequest, OpenApproval>();

  /** Writes from the version that was read; what is kept outlasts its expiry, so that a late caller learns what became of it. */
  function keep(id: string, record: ApprovalRecord, ifVersion: number | "absent"): Promise<boolean> {
    const until = record.open ? record.shown.expiresAt : clock.now();
    return state.set(APPROVAL + id, record, { ifVersion, expiresAt: until + timeoutMs });
  }

  function announce({ shown: { id, toolId } }: OpenApproval, outcome: Resolution, by?: Principal): void {
    emit("confirmation-resolved", { id, toolId, outcome, ...(by && { by: by.id }) });
  }

  async function settle({ approval, version }: Read, outcome: Settled, by?: Principal): Promise<boolean> {
    const settled = await keep(approval.shown.id, { open: false, outcome }, version);
    if (settled) announce(approval, outcome, by);
    return settled;
  }

  const isDue = ({ shown }: OpenApproval): boolean => shown.expiresAt <= clock.now();

  /** The approval where it is open, or what became of it. One that is due expires now. */
  async function read(id: string): Promise<Read | Settled | undefined> {
    for (;;) {
      const entry = await state.get(APPROVAL + id);
      if (entry === undefined) return undefined;
      const record = entry.value as ApprovalRecord;
      if (!record.open) return record.outcome;
      const found: Read = { approval: record, version: entry.version };
      if (!isDue(record)) return found;
      await settle(found, "expired");
    }
  }

  /** Every open approval, oldest first. Those that are due expire now. */
  async function readAll(): Promise<readonly Read[]> {
    const open: Read[] = [];
    for (const { value, version } of await state.list(APPROVAL)) {
      const record = value as ApprovalRecord;
      if (!record.open) continue;
      const found: Read = { approval: record, version };
      if (isDue(record)) await settle(found, "expired");
      else open.push(found);
    }
    return open.sort((a, b) => a.approval.shown.requestedAt - b.approval.shown.requestedAt || a.version - b.version);
  }

  async function makeRoom(): Promise<void> {
    const open = await readAll();
    for (const found of open.slice(0, Math.max(0, open.length - MAX_APPROVALS + 1))) {
      // Removed without a trace, so that whoever asks without end does not fill the state with what is settled either.
      const { approval, version } = found;
      if (await state.delete(APPROVAL + approval.shown.id, { ifVersion: version })) announce(approval, "expired");
    }
  }

  /** The approval, where this person may answer it now. */
  async function toAnswer(id: string, by: Principal): Promise<Read> {
    const found = await read(id);
    if (!isOpen(found)) throw invalid(id, gone(found));
    if (!sharesTenant(by, found.approval)) throw invalid(id, gone(undefined));
    if (found.approval.shown.state === "approved") throw invalid(id, "was already approved");
    return found;
  }

  /** Whether an approval is good for a call, and where it is, the approval. */
  async function examine(id: string, call: PolicyRequest): Promise<{ answer: ApprovalState; found?: Read }> {
    const found = await read(id);
    if (!isOpen(found)) {
      const reason = `The confirmation ${gone(found)}. Make the call without confirmationId to ask again.`;
      return { answer: { state: "invalid", reason } };
    }
    const { approval } = found;
    if (approval.binding !== bindingOf(call, argumentsToShow(call))) {
      return { answer: { state: "invalid", reason: difference(approval, call) } };
    }
    if (approval.shown.state === "pending") {
      return { answer: { state: "pending", reason: `Nobody has approved this call yet: ${approval.shown.reason}` } };
    }
    return { answer: { state: "approved" }, found };
  }

  return {
    async list() {
      return (await readAll()).map(({ approval }) => approval.shown);
    },

    async approve(id, by) {
      if (!by.roles.includes("approver")) throw lacksRole(id, by);
      for (;;) {
        const { approval, version } = await toAnswer(id, by);
        const { shown } = approval;
        if (shown.requestedBy === by.id && !(by.local && settings.selfApproval === "local")) throw ownCall(shown, by);
        // It now waits for its use as long as it could wait for the answer.
        const approved: PendingApproval = { ...shown, state: "approved", expiresAt: clock.now() + timeoutMs };
        if (!(await keep(id, { ...approval, shown: approved }, version))) continue;
        announce(approval, "approved", by);
        return;
      }
    },

    async deny(id, by) {
      for (;;) {
        const before = await read(id);
        // Who asked may take the request back: that grants nothing.
        const asked = isOpen(before) && before.approval.shown.requestedBy === by.id;
        if (!asked && !by.roles.includes("approver")) throw lacksRole(id, by);
        if (await settle(await toAnswer(id, by), "denied", by)) return;
      }
    },

    async request(call, reason) {
      const shownArguments = argumentsToShow(call);
      const binding = bindingOf(call, shownArguments);
      for (;;) {
        const asked = await state.get(ASKED + binding);
        const before = asked === undefined ? undefined : await read(String(asked.value));
        if (isOpen(before)) {
          const { shown } = before.approval;
          const approved = "The call is approved. Make it again with this confirmationId.";
          return { id: shown.id, reason: shown.state === "approved" ? approved : shown.reason };
        }
        await makeRoom();

        // Hexadecimal, because an id is also typed on a command line, where a leading dash would be an option.
        const id = randomBytes(16).toString("hex");
        const requestedAt = clock.now();
        const shown: PendingApproval = {
          id,
          toolId: call.tool.id,
          // What the approver reads is what was hashed, whatever the caller does to its own object later.
          arguments: shownArguments,
          requestedBy: call.principal.id,
          reason,
          state: "pending",
          requestedAt,
          expiresAt: requestedAt + timeoutMs,
        };
        const { tenant } = call.principal;
        const { contentHash } = call.tool;
        const approval: OpenApproval = {
          open: true,
          shown,
          binding,
          contentHash,
          ...(tenant !== undefined && { tenant }),
        };
        await keep(id, approval, "absent");
        // As long as an approval can last: it waits once for the answer and once for its use.
        const claim = { ifVersion: asked?.version ?? "absent", expiresAt: requestedAt + 2 * timeoutMs } as const;
        if (await state.set(ASKED + binding, id, claim)) {
          emit("confirmation-requested", { id, toolId: call.tool.id, principal: call.principal.id, reason });
          return { id, reason };
        }
        // The same call asked at the same moment and was first: both wait for that one.
        await state.delete(APPROVAL + id);
      }
    },

    async check(id, call) {
      return (await examine(id, call)).answer;
    },

    async redeem(id, call) {
      for (;;) {
        const { answer, found } = await examine(id, call);
        if (found === undefined) return answer;
        if (!(await settle(found, "used", call.principal))) continue;
        redeemed.set(call, found.approval);
        return answer;
      }
    },

    async giveBack(call) {
      const approval = redeemed.get(call);
      if (approval === undefined || !redeemed.delete(call)) return;
      const entry = await state.get(APPROVAL + approval.shown.id);
      if (entry === undefined || !(await keep(approval.shown.id, approval, entry.version))) return;
      announce(approval, "returned", call.principal);
    },
  };
}

function isOpen(found: Read | Settled | undefined): found is Read {
  return typeof found === "object";
}

function ownCall({ id, toolId }: PendingApproval, by: Principal): ArsenalError {
  return new ArsenalError("APPROVAL_INVALID", `"${by.id}" asked for ${toolId} and cannot approve it as well.`, {
    field: "confirmationId",
    value: id,
    fix: 'Let another approver answer, or set security.self_approval to "local" for the person at this machine.',
  });
}

function invalid(id: string, what: string): ArsenalError {
  return new ArsenalError("APPROVAL_INVALID", `The confirmation ${what}.`, {
    field: "confirmationId",
    value: id,
    fix: "List the approvals to see which calls wait now.",
  });
}

function lacksRole(id: string, by: Principal): ArsenalError {
  return new ArsenalError(
    "APPROVAL_INVALID",
    `"${by.id}" lacks the role "approver" and cannot answer a confirmation.`,
    {
      field: "confirmationId",
      value: id,
      fix: 'Give the role "approver" to whoever answers, or let an approver answer.',
    },
  );
}
