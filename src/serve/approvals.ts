import type { ApprovalAnswer, Approvals } from "../guard/aegis.ts";
import { visibleText } from "../guard/visible-text.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import type { Leases } from "../state/changes.port.ts";
import { startLeasedWork } from "../state/leased-work.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { answerJson, answerProblem, answerText, type Problem } from "./http/answer.ts";
import type { HttpExchange, Surface } from "./surface.ts";

/** What lets one process at a time prune. */
interface Leased {
  readonly state: { readonly leases: Leases };
}

const LIST = "/api/v1/approvals";
const BELOW = `${LIST}/`;

/** What is shown of a call that waits is nobody else's. */
const PRIVATE = { "cache-control": "no-store" };

/** How often one of the processes looks for approvals that nobody answered in time. */
const PRUNE_MS = 60_000;

/**
 * `GET /api/v1/approvals`, the calls that the caller may approve, and `POST /api/v1/approvals/ID/approve` and `…/deny`. One of the processes that
 * share the approvals lets those expire that nobody answered, so that the audit log and the webhook hear of it though nobody looks.
 */
export function approvalsSurface(
  { arsenal, replica }: { readonly arsenal: { readonly approvals: Approvals }; readonly replica: Leased },
  clock: Clock = systemClock,
): Surface {
  const prune = { name: "prune", everyMs: PRUNE_MS, run: () => arsenal.approvals.list() };
  return {
    name: "approvals",
    close: startLeasedWork(replica.state.leases, clock, prune),
    routes: [
      { path: LIST, handle: (exchange) => list(exchange, arsenal.approvals) },
      { path: BELOW, handle: (exchange) => answer(exchange, arsenal.approvals) },
    ],
    addresses: [[LIST, "Calls that wait for a person's approval."]],
  };
}

async function list({ request, response, principal }: HttpExchange, approvals: Approvals): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") return refuseMethod(response, "GET, HEAD");
  if (!principal.roles.includes("approver")) {
    const message = `"${principal.id}" lacks the role "approver" and cannot see which calls wait.`;
    const fix = 'Give the caller the role "approver", with its API key or in its token.';
    return answerProblem(response, { status: 403, code: "APPROVAL_INVALID", message, fix });
  }
  const waiting = await approvals.list({ approver: principal });
  // The person who reads the answer as text shall see what hides in the arguments; a program reads the same either way.
  answerText(response, 200, visibleText(JSON.stringify({ approvals: waiting })), PRIVATE);
}

async function answer(exchange: HttpExchange, approvals: Approvals): Promise<void> {
  const { request, response, principal, url } = exchange;
  const [id = "", action, ...more] = url.pathname.slice(BELOW.length).split("/");
  if ((action !== "approve" && action !== "deny") || more.length > 0) return answerProblem(response, NOTHING_HERE);
  if (request.method !== "POST") return refuseMethod(response, "POST");
  // A web page cannot send this type to another site unasked, so that no form approves anything.
  const body = await exchange.json({ maxBytes: 1_024 });
  if ("refused" in body) {
    const { status, message } = body.refused;
    return answerProblem(response, { status, code: "INPUT_INVALID", message, fix: EMPTY_OBJECT });
  }
  if (!isPlainObject(body.value) || Object.keys(body.value).length > 0) {
    const message = "The body says more than the address: a call is approved as it was asked for, or denied.";
    return answerProblem(response, { status: 400, code: "INPUT_INVALID", message, fix: EMPTY_OBJECT });
  }
  const answered = await approvals.answer(id, action, principal);
  if (answered.outcome === "refused") return answerProblem(response, toProblem(answered), PRIVATE);
  answerJson(response, 200, { id, outcome: answered.outcome }, PRIVATE);
}

const EMPTY_OBJECT = "Send {} with the header Content-Type: application/json.";

const NOTHING_HERE: Problem = {
  status: 404,
  code: "INPUT_INVALID",
  message: "Nothing is here.",
  fix: `POST to ${BELOW}ID/approve or ${BELOW}ID/deny.`,
};

function refuseMethod(response: HttpExchange["response"], allowed: string): void {
  const message = `This path takes ${allowed} only.`;
  answerProblem(response, { status: 405, code: "INPUT_INVALID", message, fix: `Use ${allowed}.` }, { allow: allowed });
}

type Refused = Extract<ApprovalAnswer, { readonly outcome: "refused" }>;

const STATUS: Readonly<Record<Refused["because"], number>> = {
  "lacks-role": 403,
  "own-call": 403,
  unknown: 404,
  settled: 409,
};

function toProblem({ because, error: { code, message, details } }: Refused): Problem {
  return { status: STATUS[because], code, message, fix: details.fix ?? "" };
}
