import { fixable } from "../../errors/arsenal-error.ts";
import type { Clock } from "../../observe/clock.ts";
import type { State } from "../../state/state.port.ts";
import type { AnswerOptions, Approvals, DecidedApproval } from "../aegis.ts";
import type { Principal } from "../principal.ts";
import type { OpenApproval } from "./approval-record.ts";

/** One document bounds the number of kept decisions without a search. */
const DECIDED = "approvals-decided";
const MOST_KEPT = 100;
const KEPT_MS = 86_400_000;
const MAX_NOTE = 1_000;

interface KeptDecision {
  readonly shown: DecidedApproval;
  readonly tenant?: string;
}

/** Remembers the latest answers of approvers for a day, newest first. */
export function createDecisions(state: State, clock: Clock) {
  const read = async () => {
    const entry = await state.get(DECIDED);
    const oldest = clock.now() - KEPT_MS;
    const kept = ((entry?.value ?? []) as readonly KeptDecision[]).filter(({ shown }) => shown.decidedAt > oldest);
    return { kept, version: entry?.version ?? ("absent" as const) };
  };

  async function write(decision: KeptDecision): Promise<void> {
    for (;;) {
      const { kept, version } = await read();
      const next = [decision, ...kept].slice(0, MOST_KEPT);
      if (await state.set(DECIDED, next, { ifVersion: version, expiresAt: clock.now() + KEPT_MS })) return;
    }
  }

  return {
    /** Stores an answer. Callers who withdraw their own calls are not recorded, so they cannot crowd out other decisions. */
    async add(approval: OpenApproval, outcome: DecidedApproval["outcome"], by: Principal, noted: AnswerOptions) {
      const { tenant, shown } = approval;
      const { state: _state, expiresAt: _expiry, ...asked } = shown;
      if (outcome === "denied" && asked.requestedBy === by.id && tenant === by.tenant) return;
      const decided = { outcome, decidedBy: by.id, decidedAt: Math.round(clock.now()) };
      const { note } = noted;
      const shownLater = { ...asked, ...decided, ...(note !== undefined && { note }) };
      // The answer already counts, so a failed write of this list does not undo it.
      await write({ shown: shownLater, ...(tenant !== undefined && { tenant }) }).catch(() => undefined);
    },

    list: (async ({ approver, limit = 20 } = {}) => {
      const { kept } = await read();
      const isVisible = ({ tenant }: KeptDecision): boolean =>
        approver === undefined ||
        (approver.roles.includes("approver") && (approver.tenant === undefined || approver.tenant === tenant));
      return kept
        .filter(isVisible)
        .slice(0, limit)
        .map(({ shown }) => shown);
    }) satisfies Approvals["decided"] as Approvals["decided"],
  };
}

/** Returns the note without the space around it, or nothing for an empty one. Throws INPUT_INVALID if it is too long. */
export function checkedNote({ note = "" }: AnswerOptions): AnswerOptions {
  const text = note.trim();
  if (text.length <= MAX_NOTE) return text === "" ? {} : { note: text };
  const problem = `The note has ${text.length} characters, and at most ${MAX_NOTE} are kept.`;
  throw fixable("INPUT_INVALID", problem, "Shorten it.", { field: "note", value: note });
}
