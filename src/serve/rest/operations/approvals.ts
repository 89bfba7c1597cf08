import { fixable } from "../../../errors/arsenal-error.ts";
import type { ApprovalAnswer } from "../../../guard/aegis.ts";
import { answer, type Operation, operationsOf } from "../operation.ts";
import { fromCursor, toCursor } from "./cursor.ts";
import { anything, choice, entry, list, refined, string, text, time, whole } from "../../../tool/shape/shape.ts";

const operation = operationsOf({ tag: "Approvals", role: "approver" });

const params = entry("", { id: string("The approval's id, from the answer to the call.") }, ["id"]);

const APPROVAL = entry(
  "A call that waits for a person.",
  {
    id: string("Its id."),
    toolId: string("The tool that is to be called."),
    arguments: anything("The arguments. The call runs with exactly these."),
    requestedBy: string("Who asked."),
    reason: string("Why the call needs approval."),
    state: choice("An approved call waits until the caller repeats it.", ["pending", "approved"]),
    requestedAt: time("When it was requested."),
    expiresAt: time("When it expires."),
    traceId: string("The trace of the call."),
  },
  ["id", "toolId", "arguments", "requestedBy", "reason", "state", "requestedAt", "expiresAt"],
);

const DECIDED = entry(
  "A call that an approver has answered.",
  {
    id: string("Its id."),
    toolId: string("The tool that was to be called."),
    requestedBy: string("Who asked."),
    reason: string("Why the call needed approval."),
    requestedAt: time("When it was requested."),
    traceId: string("The trace of the call."),
    outcome: choice("The approver's answer.", ["approved", "denied"]),
    decidedBy: string("Who answered."),
    decidedAt: time("When it was answered."),
    note: string("The reason, if the approver gave one."),
  },
  ["id", "toolId", "requestedBy", "reason", "requestedAt", "outcome", "decidedBy", "decidedAt"],
);

const STATUS: Readonly<Record<RefusedAnswer["because"], number>> = {
  "lacks-role": 403,
  "own-call": 403,
  unknown: 404,
  settled: 409,
};

type RefusedAnswer = Extract<ApprovalAnswer, { readonly outcome: "refused" }>;

function answering(verdict: "approve" | "deny", summary: string, description: string): Operation {
  return operation(`${verdict}Call`, `POST /approvals/{id}/${verdict}`, {
    summary,
    description,
    params,
    // The body cannot change the call: it is approved unchanged, or denied.
    body: entry("", {
      note: refined(text("Why. It is kept with the decision and in the audit log; the caller does not get it."), {
        maxLength: 1_000,
      }),
    }),
    maxBytes: 8_192,
    answers: {
      200: answer(
        "It is settled.",
        {
          id: string("Its id."),
          outcome: choice("The approver's answer.", ["approved", "denied"]),
        },
        ["id", "outcome"],
      ),
    },
    problems: ["APPROVAL_INVALID"],
    statuses: [404, 409],
    async run({ params: { id }, body, principal }, { arsenal }) {
      const answered = await arsenal.approvals.answer(id, verdict, principal, body);
      if (answered.outcome === "refused") return { refused: answered.error, status: STATUS[answered.because] };
      return { body: { id, outcome: answered.outcome } };
    },
  });
}

export const approvalOperations: readonly Operation[] = [
  operation("listApprovals", "GET /approvals", {
    summary: "List the calls that you may approve",
    description: "Your own calls and those of other tenants are left out.",
    query: entry("", {
      limit: whole("Approvals on a page. Default 100.", 1, 1_000),
      cursor: refined(text("`next` of the previous page."), { maxLength: 1_024 }),
      decided: whole("Also list this many of the latest answered calls of the last day. Default 0.", 0, 100),
    }),
    answers: {
      200: answer(
        "One page. It may be shorter than the limit, because it ends after 1 MiB of arguments.",
        {
          approvals: list("Oldest first.", APPROVAL),
          next: string("The cursor of the next page. Omitted on the last."),
          decided: list("The latest answered calls, newest first, if `decided` is set.", DECIDED),
        },
        ["approvals"],
      ),
    },
    async run({ principal, query: { limit, cursor, decided: most = 0 } }, { arsenal }) {
      const [place] = fromCursor("approvals", /^(\d+\.\d+)$/, cursor) ?? [];
      const asked = { approver: principal, ...(limit !== undefined && { limit }), ...(place && { cursor: place }) };
      const approvals = await arsenal.approvals.list(asked);
      const { next } = approvals;
      const decided = most > 0 && { decided: await arsenal.approvals.decided({ approver: principal, limit: most }) };
      return { body: { approvals, ...(next !== undefined && { next: toCursor("approvals", next) }), ...decided } };
    },
  }),
  operation("getApproval", "GET /approvals/{id}", {
    summary: "Get one call that you may approve",
    params,
    answers: { 200: { description: "The call.", schema: APPROVAL } },
    problems: ["APPROVAL_INVALID"],
    statuses: [404],
    async run({ params: { id }, principal }, { arsenal }) {
      const found = await arsenal.approvals.get(id, { approver: principal });
      if (found !== undefined) return { body: found };
      const problem = "There is no waiting call with this id that you may approve.";
      const details = { field: "id", value: id };
      return { refused: fixable("APPROVAL_INVALID", problem, "List the approvals that wait.", details), status: 404 };
    },
  }),
  answering("approve", "Let a call run", "It runs once, when the caller makes it again with the same arguments."),
  answering("deny", "Refuse a call", "Callers may deny their own calls, to withdraw them."),
];
