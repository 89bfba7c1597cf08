import { fixable } from "../../../errors/arsenal-error.ts";
import type { ApprovalAnswer } from "../../../guard/aegis.ts";
import { answer, type Operation, operationsOf } from "../operation.ts";
import { fromCursor, toCursor } from "./cursor.ts";
import { anything, choice, entry, list, refined, string, text, time, whole } from "../../../tool/shape/shape.ts";

const operation = operationsOf({ tag: "Approvals", role: "approver" });

const params = entry("", { id: string("The approval's id, from the response to the call.") }, ["id"]);

const APPROVAL = entry(
  "A call that waits for approval.",
  {
    id: string("The approval's id."),
    toolId: string("The id of the tool to call."),
    arguments: anything("The arguments. The call runs with exactly these."),
    requestedBy: string("The caller who made the call."),
    reason: string("Why the call needs approval."),
    state: choice("An approved call waits until the caller repeats it.", ["pending", "approved"]),
    requestedAt: time("When the approval was requested."),
    expiresAt: time("When the approval expires."),
    traceId: string("The trace of the call."),
  },
  ["id", "toolId", "arguments", "requestedBy", "reason", "state", "requestedAt", "expiresAt"],
);

const DECIDED = entry(
  "A call that an approver has answered.",
  {
    id: string("The approval's id."),
    toolId: string("The id of the tool."),
    requestedBy: string("The caller who made the call."),
    reason: string("Why the call needed approval."),
    requestedAt: time("When the approval was requested."),
    traceId: string("The trace of the call."),
    outcome: choice("The approver's answer.", ["approved", "denied"]),
    decidedBy: string("The approver."),
    decidedAt: time("When the approver answered."),
    note: string("The approver's reason, if given."),
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
      note: refined(
        text(
          "The reason for the decision. It is stored with the decision and in the audit log, and is not shown to the caller.",
        ),
        {
          maxLength: 1_000,
        },
      ),
    }),
    maxBytes: 8_192,
    answers: {
      200: answer(
        "The decision is recorded.",
        {
          id: string("The approval's id."),
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
    description: "Leaves out your own calls and calls of other tenants.",
    query: entry("", {
      limit: whole("Maximum number of approvals on a page. Defaults to 100.", 1, 1_000),
      cursor: refined(text("`next` of the previous page."), { maxLength: 1_024 }),
      decided: whole(
        "Number of answered calls to list as well, latest first, from the last day. Defaults to 0.",
        0,
        100,
      ),
    }),
    answers: {
      200: answer(
        "One page. It may have fewer entries than the limit, because a page holds at most 1 MiB of arguments.",
        {
          approvals: list("Oldest first.", APPROVAL),
          next: string("The cursor of the next page. Omitted on the last page."),
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
  answering("approve", "Approve a call", "The call runs once, when the caller repeats it with the same arguments."),
  answering("deny", "Deny a call", "Callers may deny their own calls to withdraw them."),
];
