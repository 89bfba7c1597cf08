import type { Clock } from "../../observe/clock.ts";
import type { Emit, EventMap } from "../../observe/events.ts";
import { nodeCrypto } from "../../tool/crypto.ts";
import type { AegisSettings, Approvals, PendingApproval } from "../aegis.ts";
import {
  type ApprovalRecord,
  argumentsToShow,
  bindingOf,
  crowding,
  difference,
  gone,
  type OpenApproval,
  refusedAnswer,
  type Settled,
  type SettledApproval,
} from "./approval-record.ts";
import type { PolicyRequest } from "../policy.port.ts";
import type { Principal } from "../principal.ts";
import type { ListedState, State } from "../../state/state.port.ts";

/** The approvals as the guard uses them: it also asks for them and redeems them. */
export interface ApprovalBook extends Approvals {
  /** The approval this very call waits for, or was given: the one it already has, or a new one. */
  request(call: PolicyRequest, reason: string): Promise<Pick<PendingApproval, "id" | "reason" | "state">>;
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

/** Open approvals held at once, and settled ones remembered, so that a caller that asks without end cannot fill the state. */
export const MAX_APPROVALS = 1_000;

const APPROVAL = "approval:";
/** Leads from what an approval is for to its id, so that the same call, made again, does not ask again. */
const ASKED = "approval-asked:";

type Resolution = EventMap["confirmation-resolved"]["outcome"];

interface Read {
  readonly approval: OpenApproval;
  readonly version: number;
}

/** Keeps the calls that wait for a person, in a state that processes may share. Every step names the version it is based on, so one of two wins. */
export function createApprovals(options: {
  readonly state: State;
  readonly clock: Clock;
  readonly emit: Emit;
  /** `selfApproval` holds for what is asked for here, whichever process is then told the answer. */
  readonly settings: Pick<AegisSettings, "confirmationTimeoutS" | "selfApproval">;
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
    const { tenant } = approval;
    const record: SettledApproval = { open: false, outcome, ...(tenant !== undefined && { tenant }) };
    const settled = await keep(approval.shown.id, record, version);
    if (settled) announce(approval, outcome, by);
    // A caller may ask and deny, again and again. What was used can be given back, and what expires does so once.
    if (settled && outcome === "denied") await forgetAsked(approval);
    return settled;
  }

  /** Removes what leads from a call to an approval that has ended. */
  async function forgetAsked({ binding, shown }: OpenApproval): Promise<void> {
    const asked = await state.get(ASKED + binding);
    if (asked?.value === shown.id) await state.delete(ASKED + binding, { ifVersion: asked.version });
  }

  const isDue = ({ shown }: OpenApproval): boolean => shown.expiresAt <= clock.now();

  /** The approval if it is open, or what became of it. One that is due expires now. */
  async function read(id: string): Promise<Read | SettledApproval | undefined> {
    for (;;) {
      const entry = await state.get(APPROVAL + id);
      if (entry === undefined) return undefined;
      const record = entry.value as ApprovalRecord;
      if (!record.open) return record;
      const found: Read = { approval: record, version: entry.version };
      if (!isDue(record)) return found;
      await settle(found, "expired");
    }
  }

  /** Every open approval, oldest first, and the settled ones as they were settled. Those that are due expire now. */
  async function readAll(): Promise<{ readonly open: readonly Read[]; readonly settled: readonly ListedState[] }> {
    const open: Read[] = [];
    const settled: ListedState[] = [];
    for (const entry of await state.list(APPROVAL)) {
      const approval = entry.value as ApprovalRecord;
      if (!approval.open) settled.push(entry);
      else if (isDue(approval)) await settle({ approval, version: entry.version }, "expired");
      else open.push({ approval, version: entry.version });
    }
    open.sort((a, b) => a.approval.shown.requestedAt - b.approval.shown.requestedAt || a.version - b.version);
    return { open, settled: settled.sort((a, b) => a.version - b.version) };
  }

  async function makeRoom(): Promise<void> {
    const { open, settled } = await readAll();
    for (const { approval, version } of crowding(open, open.length - MAX_APPROVALS + 1)) {
      if (!(await state.delete(APPROVAL + approval.shown.id, { ifVersion: version }))) continue;
      announce(approval, "expired");
      await forgetAsked(approval);
    }
    const excess = Math.max(0, settled.length - MAX_APPROVALS);
    for (const { key, version } of settled.slice(0, excess)) await state.delete(key, { ifVersion: version });
  }

  function mayApprove(by: Principal, approval: OpenApproval): boolean {
    return refusedAnswer({ id: approval.shown.id, answer: "approve", by, record: approval }) === undefined;
  }

  async function approve({ approval, version }: Read, by: Principal): Promise<boolean> {
    // It now waits for its use as long as it could wait for the answer.
    const expiresAt = Math.round(clock.now()) + timeoutMs;
    const shown: PendingApproval = { ...approval.shown, state: "approved", expiresAt };
    const approved = await keep(shown.id, { ...approval, shown }, version);
    if (approved) announce(approval, "approved", by);
    return approved;
  }

  const takeAnswer: Approvals["answer"] = async (id, given, by) => {
    for (;;) {
      const found = await read(id);
      const record = isOpen(found) ? found.approval : found;
      const refused = refusedAnswer({ id, answer: given, by, record });
      if (refused !== undefined) return refused;
      // Whatever is not open was refused.
      const open = found as Read;
      // Whatever is not a yes is a no.
      const outcome = given === "approve" ? "approved" : "denied";
      if (await (outcome === "approved" ? approve(open, by) : settle(open, outcome, by))) return { outcome };
    }
  };

  async function answerOrThrow(id: string, given: "approve" | "deny", by: Principal): Promise<void> {
    const answered = await takeAnswer(id, given, by);
    if (answered.outcome === "refused") throw answered.error;
  }

  /** Whether an approval is good for a call, and where it is, the approval. */
  async function examine(id: string, call: PolicyRequest): Promise<{ answer: ApprovalState; found?: Read }> {
    const found = await read(id);
    if (!isOpen(found)) {
      const reason = `The confirmation ${gone(found?.outcome)}. Make the call without confirmationId to ask again.`;
      return { answer: { state: "invalid", reason } };
    }
    const { approval } = found;
    if (approval.binding !== bindingOf(call, argumentsToShow(call)))
      return { answer: { state: "invalid", reason: difference(approval, call) } };
    if (approval.shown.state === "pending")
      return { answer: { state: "pending", reason: `Nobody has approved this call yet: ${approval.shown.reason}` } };
    return { answer: { state: "approved" }, found };
  }

  return {
    async list({ approver } = {}) {
      const open = (await readAll()).open.map(({ approval }) => approval);
      const listed = approver === undefined ? open : open.filter((approval) => mayApprove(approver, approval));
      return listed.map(({ shown }) => shown);
    },

    async get(id, { approver } = {}) {
      const found = await read(id);
      if (!isOpen(found) || (approver !== undefined && !mayApprove(approver, found.approval))) return undefined;
      return found.approval.shown;
    },

    answer: takeAnswer,
    approve: (id, by) => answerOrThrow(id, "approve", by),
    deny: (id, by) => answerOrThrow(id, "deny", by),

    async request(call, reason) {
      const shownArguments = argumentsToShow(call);
      const binding = bindingOf(call, shownArguments);
      for (;;) {
        const asked = await state.get(ASKED + binding);
        const before = asked === undefined ? undefined : await read(String(asked.value));
        if (isOpen(before)) return before.approval.shown;
        await makeRoom();

        // Hexadecimal, because an id is also typed on a command line, where a leading dash would be an option.
        const id = nodeCrypto().randomBytes(16).toString("hex");
        const requestedAt = Math.round(clock.now());
        const { id: requestedBy, tenant, local } = call.principal;
        const { id: toolId, contentHash } = call.tool;
        const { selfApproval } = settings;
        const expiresAt = requestedAt + timeoutMs;
        // What the approver reads is what was hashed, whatever the caller does to its own object later.
        const asking = { id, toolId, arguments: shownArguments, requestedBy, reason, requestedAt, expiresAt };
        const shown: PendingApproval = { ...asking, state: "pending" };
        const owner = tenant === undefined ? {} : { tenant };
        await keep(id, { open: true, shown, binding, contentHash, local, selfApproval, ...owner }, "absent");
        // As long as an approval can last: it waits once for the answer and once for its use.
        const claim = { ifVersion: asked?.version ?? "absent", expiresAt: requestedAt + 2 * timeoutMs } as const;
        if (await state.set(ASKED + binding, id, claim)) {
          emit("confirmation-requested", { id, toolId, principal: requestedBy, reason });
          return shown;
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
      if (approval === undefined) return;
      redeemed.delete(call);
      const entry = await state.get(APPROVAL + approval.shown.id);
      if (entry === undefined || !(await keep(approval.shown.id, approval, entry.version))) return;
      announce(approval, "returned", call.principal);
    },
  };
}

function isOpen(found: Read | SettledApproval | undefined): found is Read {
  return found !== undefined && "approval" in found;
}
