import { fixable } from "../../errors/arsenal-error.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit, EventMap } from "../../observe/events.ts";
import type { State } from "../../state/state.port.ts";
import { crowdedOut, type ShareBounds } from "../../base/shares.ts";
import type { AegisRequest, AegisSettings, AnswerOptions, Approvals, PendingApproval } from "../aegis.ts";
import type { PolicyRequest } from "../policy.port.ts";
import type { Principal } from "../principal.ts";
import {
  argumentsToShow,
  bindingOf,
  difference,
  MAX_ARGUMENT_BYTES,
  type OpenApproval,
  checkApprover,
  refusedAnswer,
  type Settled,
  type SettledApproval,
  unusable,
} from "./approval-record.ts";
import { createApprovalStore, type KeptApproval, newId, sizeOf } from "./approval-store.ts";
import { checkedNote, createDecisions } from "./decisions.ts";

/** Approvals as the guard uses them: it can also request and redeem. */
export interface ApprovalBook extends Approvals {
  /** Returns the approval of exactly this call: an existing one, or a new one. `admit` runs before each wait; if it throws, nothing is stored. */
  request(
    call: PolicyRequest & Pick<AegisRequest, "traceId">,
    reason: string,
    admit?: () => Promise<void>,
  ): Promise<Pick<PendingApproval, "id" | "reason" | "state">>;
  /** Checks that an approval was given and matches the call: the same tool, definition, arguments and caller. */
  check(id: string, call: PolicyRequest): Promise<ApprovalState>;
  /** Consumes an approval if `check` accepts it. */
  redeem(id: string, call: PolicyRequest): Promise<ApprovalState>;
  /** Makes the approval that this call redeemed valid again, if the call did not run. */
  giveBack(call: PolicyRequest): Promise<void>;
}

export type ApprovalState =
  | { readonly state: "approved" }
  | { readonly state: "pending"; readonly reason: string }
  | { readonly state: "invalid"; readonly reason: string };

/** The maximum number of open approvals, and of settled approvals that are remembered. */
export const MAX_APPROVALS = 1_000;

/** The maximum number and size of one caller's open approvals. Beyond it, the caller's oldest approval is dropped. */
export const MOST_PER_CALLER = { count: 200, bytes: 2 * 1024 * 1024 } as const;

const BOUNDS: ShareBounds = { count: MAX_APPROVALS, bytes: 16 * 1024 * 1024, perCaller: MOST_PER_CALLER };
const OWN_BOUNDS: ShareBounds = { count: Number.POSITIVE_INFINITY, perCaller: MOST_PER_CALLER };

/** The number of new approvals in one process between two checks of all callers' approvals. Applies while there is room for twice as many. */
const CHECK_INTERVAL = 32;

/** The maximum and default number of approvals per page, and the bytes of arguments after which a page ends. */
const MOST_LISTED = 1_000;
const LISTED = 100;
const LISTED_BYTES = 1024 * 1024;

/** The most characters recorded of an unknown id. */
const MAX_ID = 100;

type Resolution = EventMap["confirmation-resolved"];

interface VersionedApproval {
  readonly approval: OpenApproval;
  readonly version: number;
}

/**
 * Creates the book of calls that wait for approval, in a state that processes may share. Every step names the version that it changes, so only one of
 * two concurrent steps succeeds.
 */
export function createApprovals(options: {
  readonly state: State;
  readonly clock: Clock;
  readonly emit: Emit;
  /** `selfApproval` applies to approvals requested here, whichever process receives the answer. */
  readonly settings: Pick<AegisSettings, "confirmationTimeoutS" | "selfApproval">;
}): ApprovalBook {
  const { state, clock, emit, settings } = options;
  const timeoutMs = settings.confirmationTimeoutS * 1_000;
  const redeemed = new WeakMap<PolicyRequest, OpenApproval>();
  const store = createApprovalStore(state, timeoutMs, (approval) => {
    announce(approval, "expired", { reason: `Its arguments are larger than ${MAX_ARGUMENT_BYTES} bytes.` });
  });
  const decisions = createDecisions(state, clock);
  let untilCheck = 0;

  function announce(
    { shown: { id, toolId } }: OpenApproval,
    outcome: Resolution["outcome"],
    more: Pick<Resolution, "by" | "reason" | "note"> = {},
  ): void {
    emit("confirmation-resolved", { id, toolId, outcome, ...more });
  }

  async function settle(
    { approval, version }: VersionedApproval,
    outcome: Settled,
    by?: Principal,
    noted: AnswerOptions = {},
  ): Promise<boolean> {
    const { tenant, shown } = approval;
    const record: SettledApproval = { open: false, outcome, ...(tenant !== undefined && { tenant }) };
    const settled = await store.write(shown.id, record, version, clock.now());
    if (!settled) return false;
    announce(approval, outcome, by && { by: by.id, ...noted });
    await store.removeArguments(shown.id);
    // Forgets only denied calls, because callers may request and deny repeatedly. A used approval can be given back; an expired one expires once.
    if (outcome === "denied") await store.forgetAsked(approval);
    return true;
  }

  const isDue = ({ shown }: OpenApproval): boolean => shown.expiresAt <= clock.now();

  /** The open approval, or its outcome. An overdue one expires now. */
  async function read(id: string): Promise<VersionedApproval | SettledApproval | undefined> {
    for (;;) {
      const kept = await store.read(id, clock.now());
      if (kept === undefined) return undefined;
      const { record, version } = kept;
      if (!record.open) return record;
      const found: VersionedApproval = { approval: record, version };
      if (!isDue(record)) return found;
      await settle(found, "expired");
    }
  }

  /** Every open approval, or those of one caller, oldest first, and the settled approvals. Overdue approvals expire now. */
  async function readAll(owner?: Principal) {
    const open: VersionedApproval[] = [];
    const settled: KeptApproval[] = [];
    for (const kept of await store.list(clock.now(), owner)) {
      const { record: approval, version } = kept;
      if (!approval.open) settled.push(kept);
      else if (isDue(approval)) await settle({ approval, version }, "expired");
      else open.push({ approval, version });
    }
    return { open: open.sort(byAge), settled: settled.sort((a, b) => a.version - b.version) };
  }

  /** Makes room for a new approval. Checks the caller's approvals each time, and all approvals periodically, or each time if little room is left. */
  async function makeRoom(asking: OpenApproval, principal: Principal): Promise<void> {
    const checksAll = --untilCheck < 0;
    const { open, settled } = await readAll(checksAll ? undefined : principal);
    const others = open.filter(({ approval }) => approval.shown.id !== asking.shown.id).map(toHolding);
    const newcomer = toHolding({ approval: asking, version: 0 });
    const crowded = crowdedOut(others, newcomer, checksAll ? BOUNDS : OWN_BOUNDS);
    for (const { read: found } of crowded ?? []) await drop(found);
    if (checksAll) {
      const excess = Math.max(0, settled.length - MAX_APPROVALS);
      for (const each of settled.slice(0, excess)) await store.remove(each);
      const bytes = open.reduce((sum, { approval }) => sum + approval.bytes, 0);
      const soon = 2 * CHECK_INTERVAL;
      const hasRoom = open.length + soon <= BOUNDS.count && bytes + soon * MAX_ARGUMENT_BYTES <= (BOUNDS.bytes ?? 0);
      untilCheck = hasRoom ? CHECK_INTERVAL : 0;
    }
    if (crowded !== undefined) return;
    const found = await read(asking.shown.id);
    if (isOpen(found)) await drop(found);
    throw fixable("RATE_LIMITED", "Too many calls wait for a person.", "Have some of them approved or denied first.");
  }

  /** Drops an open approval to make room for another. */
  async function drop({ approval, version }: VersionedApproval): Promise<void> {
    if (!(await store.remove({ id: approval.shown.id, version }))) return;
    announce(approval, "expired", { reason: "A newer call replaced it." });
    await store.forgetAsked(approval);
  }

  function mayApprove(by: Principal, approval: OpenApproval): boolean {
    return refusedAnswer({ id: approval.shown.id, answer: "approve", by, record: approval }) === undefined;
  }

  async function approve(
    { approval, version }: VersionedApproval,
    by: Principal,
    noted: AnswerOptions,
  ): Promise<boolean> {
    // The approver's answer and the use of the approval have the same timeout.
    const expiresAt = Math.round(clock.now()) + timeoutMs;
    const shown = { ...approval.shown, state: "approved", expiresAt } as const;
    const approved = await store.write(shown.id, { ...approval, shown }, version, clock.now());
    if (approved) announce(approval, "approved", { by: by.id, ...noted });
    return approved;
  }

  const takeAnswer: Approvals["answer"] = async (id, given, by, more = {}) => {
    checkApprover(by, given);
    const noted = checkedNote(more);
    for (;;) {
      const found = await read(id);
      const record = isOpen(found) ? found.approval : found;
      const refused = refusedAnswer({ id, answer: given, by, record });
      if (refused !== undefined) {
        const { because } = refused;
        // A person who may not see an approval must not learn its tool. The operators of that person's tenant must not either.
        const isKnown = record?.open === true && because !== "unknown" && because !== "lacks-role";
        emit("confirmation-refused", {
          id: id.slice(0, MAX_ID),
          ...(isKnown && { toolId: record.shown.toolId }),
          answer: given === "approve" ? "approve" : "deny",
          because,
          by: by.id,
          ...(by.tenant !== undefined && { tenant: by.tenant }),
        });
        return refused;
      }
      // All other answers were refused above.
      const open = found as VersionedApproval;
      // Any other answer denies.
      const outcome = given === "approve" ? "approved" : "denied";
      if (await (outcome === "approved" ? approve(open, by, noted) : settle(open, outcome, by, noted))) {
        await decisions.add(open.approval, outcome, by, noted);
        return { outcome };
      }
    }
  };

  async function answerOrThrow(...given: Parameters<typeof takeAnswer>): Promise<void> {
    const answered = await takeAnswer(...given);
    if (answered.outcome === "refused") throw answered.error;
  }

  /** Checks whether an approval is valid for a call, and returns it if so. */
  async function examine(
    id: string,
    call: PolicyRequest,
  ): Promise<{ answer: ApprovalState; found?: VersionedApproval }> {
    const found = await read(id);
    if (!isOpen(found)) return { answer: { state: "invalid", reason: unusable(found?.outcome) } };
    const { approval } = found;
    if (approval.binding !== bindingOf(call, argumentsToShow(call)))
      return { answer: { state: "invalid", reason: difference(approval, call) } };
    if (approval.shown.state === "pending")
      return { answer: { state: "pending", reason: `Nobody has approved this call yet: ${approval.shown.reason}` } };
    return { answer: { state: "approved" }, found };
  }

  return {
    async list({ approver, limit = LISTED, cursor } = {}) {
      const { open } = await readAll();
      const after = cursor === undefined ? undefined : readCursor(cursor);
      const listed = open.filter(
        (each) =>
          (after === undefined || byAge(each, after) > 0) &&
          (approver === undefined || mayApprove(approver, each.approval)),
      );
      let bytes = 0;
      const page = listed.slice(0, Math.min(limit, MOST_LISTED)).filter(({ approval }, index) => {
        bytes += approval.bytes;
        return index === 0 || bytes <= LISTED_BYTES;
      });
      const shown = await Promise.all(page.map(({ approval }) => withArguments(approval)));
      const last = page.at(-1);
      const more = last !== undefined &&
        page.length < listed.length && { next: `${last.approval.shown.requestedAt}.${last.version}` };
      return Object.assign(
        shown.filter((each) => each !== undefined),
        more,
      );
    },

    async count() {
      return (await readAll()).open.filter(({ approval }) => approval.shown.state === "pending").length;
    },

    async get(id, { approver } = {}) {
      const found = await read(id);
      if (!isOpen(found) || (approver !== undefined && !mayApprove(approver, found.approval))) return undefined;
      return withArguments(found.approval);
    },

    answer: takeAnswer,
    approve: (id, by, noted) => answerOrThrow(id, "approve", by, noted),
    deny: (id, by, noted) => answerOrThrow(id, "deny", by, noted),
    decided: decisions.list,

    async request(call, reason, admit) {
      const args = argumentsToShow(call);
      const binding = bindingOf(call, args);
      for (let isAdmitted = false; ;) {
        const asked = await store.asked(binding);
        const before = asked && (await read(asked.id));
        if (isOpen(before) && before.approval.shown.state === "approved") return before.approval.shown;
        if (!isAdmitted) await admit?.();
        isAdmitted = true;
        if (isOpen(before)) return before.approval.shown;

        const { id: requestedBy, tenant, local } = call.principal;
        const { id: toolId, contentHash } = call.tool;
        const id = newId(call.principal);
        const requestedAt = Math.round(clock.now());
        const expiresAt = requestedAt + timeoutMs;
        const { traceId } = call;
        const traced = traceId === undefined ? {} : { traceId };
        const shown = { id, toolId, requestedBy, reason, requestedAt, expiresAt, state: "pending", ...traced } as const;
        const owner = tenant === undefined ? {} : { tenant };
        const bound = { binding, contentHash, local, selfApproval: settings.selfApproval, ...owner };
        const asking: OpenApproval = { open: true, shown, bytes: sizeOf(args), ...bound };
        // The approver reads the hashed copy of the arguments, because the caller may change its object later.
        await store.writeArguments(asking, args);
        await store.write(id, asking, "absent", requestedAt);
        if (await store.claim(asking, asked?.version ?? "absent")) {
          await makeRoom(asking, call.principal);
          emit("confirmation-requested", { id, toolId, principal: requestedBy, reason });
          return shown;
        }
        // An identical concurrent call stored its approval first, so both calls wait for that approval.
        const own = await store.read(id, requestedAt);
        if (own !== undefined) await store.remove(own);
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
      const { id } = approval.shown;
      const entry = await store.read(id, clock.now());
      if (entry === undefined) return;
      await store.writeArguments(approval, argumentsToShow(call));
      if (await store.write(id, approval, entry.version, clock.now()))
        announce(approval, "returned", { by: call.principal.id });
    },
  };

  /** Undefined if the approval has just ended. */
  async function withArguments({ shown }: OpenApproval): Promise<PendingApproval | undefined> {
    const { id, toolId, ...rest } = shown;
    const args = await store.arguments(id);
    return args && { id, toolId, arguments: args, ...rest };
  }
}

function isOpen(found: VersionedApproval | SettledApproval | undefined): found is VersionedApproval {
  return found !== undefined && "approval" in found;
}

function toHolding(read: VersionedApproval) {
  const { shown, tenant, bytes } = read.approval;
  return { read, holder: { id: shown.requestedBy, tenant }, bytes, inUse: shown.state === "approved" };
}

interface ApprovalAge {
  readonly approval: { readonly shown: { readonly requestedAt: number } };
  readonly version: number;
}

function byAge(one: ApprovalAge, other: ApprovalAge): number {
  return one.approval.shown.requestedAt - other.approval.shown.requestedAt || one.version - other.version;
}

function readCursor(cursor: string): ApprovalAge {
  const [, requestedAt, version] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  if (requestedAt !== undefined)
    return { approval: { shown: { requestedAt: Number(requestedAt) } }, version: Number(version) };
  const fix = "Pass `next` of the previous page, unchanged, or leave it out for the first page.";
  throw fixable("INPUT_INVALID", "The cursor is invalid.", fix, { field: "cursor", value: cursor });
}
