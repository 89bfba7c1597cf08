import { ERROR_CODES } from "../../../errors/codes.ts";
import { BATCH, TOOL_CALL as CALL } from "../../../execute/call.ts";
import { EXECUTION_STATUSES } from "../../../execute/result.ts";
import { bodyOf, choice, entry, flag, list, number, refined, string, time, whole } from "../../../tool/shape/shape.ts";

const CODE = choice("One of the codes in docs/reference/errors.md.", Object.keys(ERROR_CODES));

const issue = entry(
  "One of several problems.",
  {
    field: string("Which field."),
    message: string("What is wrong with it."),
    value: { description: "The invalid value." },
    fix: string("How to fix it."),
  },
  ["field", "message"],
);

const details = {
  field: string("Which field is wrong: `context.query`."),
  value: { description: "Its value; shortened if it is long." },
  fix: string("The fix."),
  issues: list("Each problem, if there are several.", issue),
  retryAfterMs: number("Milliseconds after which a retry can succeed."),
} as const;

export const TOOL_CALL = bodyOf(CALL);

export const TOOL_RESULT = entry(
  "The outcome of one call. A failed tool is an outcome too: check `status`.",
  {
    toolName: string("The name as you gave it."),
    toolId: string("The id of the tool."),
    status: choice("How the call ended.", EXECUTION_STATUSES),
    result: { description: "The tool's output." },
    error: entry(
      "Why the call did not succeed.",
      {
        code: CODE,
        message: string("The problem, and the fix."),
        ...details,
        beforeSend: flag("Nothing was sent yet, so repeating is safe."),
        answered: flag("The tool itself reported the error."),
        fault: choice("The side that caused the failure, if the code alone does not show it.", ["tool", "caller"]),
      },
      ["code", "message"],
    ),
    answer: { description: "The server's whole answer, for surfaces that speak its protocol." },
    confirmationId: string("Approve this id, then repeat the call with it."),
    replayed: flag("The result of an earlier call with the same idempotency key."),
    cached: flag("The result of an earlier call, from the cache."),
    queuedAt: time("When the call came."),
    startedAt: time("When the handler was first called."),
    completedAt: time("When the call ended."),
    latencyMs: number("Milliseconds from the start of the handler to the end; 0 if it never started."),
    attempts: whole("How often the handler was called."),
    traceId: string("The call's trace id."),
    spanId: string("The call's span."),
  },
  ["toolName", "status", "queuedAt", "completedAt", "latencyMs", "attempts", "traceId", "spanId"],
);

export const PROGRESS = entry(
  "The progress of a running call.",
  {
    progress: number("The finished amount."),
    total: number("The total amount."),
    message: string("The current activity."),
  },
  ["progress"],
);

export const BATCH_CALL = refined(bodyOf(BATCH), {
  properties: { ...bodyOf(BATCH).properties, calls: refined(BATCH.properties.calls, { items: TOOL_CALL }) },
});

export const BATCH_RESULT = entry(
  "The outcomes of a batch.",
  {
    results: list("In the order of the calls.", TOOL_RESULT),
    totalTimeMs: number("Milliseconds."),
    successfulCount: whole("Calls that succeeded."),
    failedCount: whole("Calls that failed. A call that waits for approval has neither failed nor succeeded."),
  },
  ["results", "totalTimeMs", "successfulCount", "failedCount"],
);

/** Every refusal, in the format of RFC 9457. */
export const PROBLEM = entry(
  "Why a request was refused.",
  {
    type: string("`urn:toolarsenal:error:CODE`"),
    title: string("What the code means."),
    status: whole("The HTTP status."),
    detail: string("The problem, and the fix."),
    code: CODE,
    ...details,
    requestId: string("The answer's `X-Request-Id`."),
    result: TOOL_RESULT,
  },
  ["type", "title", "status", "detail", "code", "requestId"],
);

/** The error of one rejected item within an answer. */
export const TOLD_ERROR = entry(
  "Why it was refused.",
  {
    code: CODE,
    message: string("What is wrong."),
    ...details,
  },
  ["code", "message"],
);
