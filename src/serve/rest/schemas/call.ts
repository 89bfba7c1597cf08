import { ERROR_CODES } from "../../../errors/codes.ts";
import { BATCH, TOOL_CALL as CALL } from "../../../execute/call.ts";
import { EXECUTION_STATUSES } from "../../../execute/result.ts";
import { bodyOf, choice, entry, flag, list, number, refined, string, time, whole } from "../../../tool/shape/shape.ts";

const CODE = choice("One of the codes in docs/reference/errors.md.", Object.keys(ERROR_CODES));

const issue = entry(
  "One of several problems.",
  {
    field: string("The path of the field."),
    message: string("What is wrong with the field."),
    value: { description: "The invalid value." },
    fix: string("How to fix it."),
  },
  ["field", "message"],
);

const details = {
  field: string("The path of the invalid field: `context.query`."),
  value: { description: "The invalid value. A long value is shortened." },
  fix: string("The fix."),
  issues: list("Each problem, if there are several.", issue),
  retryAfterMs: number("How long to wait before a retry, in milliseconds."),
} as const;

export const TOOL_CALL = bodyOf(CALL);

export const TOOL_RESULT = entry(
  "The outcome of one call. A failed tool is an outcome too: check `status`.",
  {
    toolName: string("The tool's name, as in your request."),
    toolId: string("The id of the tool."),
    status: choice("How the call ended.", EXECUTION_STATUSES),
    result: { description: "The tool's output." },
    error: entry(
      "Why the call did not succeed.",
      {
        code: CODE,
        message: string("The problem, and the fix."),
        ...details,
        beforeSend: flag("True if nothing was sent to the tool, so repeating the call is safe."),
        answered: flag("True if the tool itself reported the error."),
        fault: choice("The side that caused the failure, if the code alone does not show it.", ["tool", "caller"]),
      },
      ["code", "message"],
    ),
    answer: { description: "The server's whole response, for surfaces that use the same protocol." },
    confirmationId: string("The id of the approval. After the approval, repeat the call with this id."),
    replayed: flag("True if this is the result of an earlier call with the same idempotency key."),
    cached: flag("True if this is the result of an earlier call, from the cache."),
    queuedAt: time("When the call arrived."),
    startedAt: time("When the handler was first called."),
    completedAt: time("When the call ended."),
    latencyMs: number(
      "Time from the start of the handler to its end, in milliseconds. 0 if the handler never started.",
    ),
    attempts: whole("The number of times the handler was called."),
    traceId: string("The call's trace id."),
    spanId: string("The call's span id."),
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
    results: list("The results, in the order of the calls.", TOOL_RESULT),
    totalTimeMs: number("The duration of the batch, in milliseconds."),
    successfulCount: whole("The number of calls that succeeded."),
    failedCount: whole(
      "The number of calls that failed. A call that waits for approval counts neither as failed nor as succeeded.",
    ),
  },
  ["results", "totalTimeMs", "successfulCount", "failedCount"],
);

/** Every refusal, in the format of RFC 9457. */
export const PROBLEM = entry(
  "Why a request was refused.",
  {
    type: string("`urn:toolarsenal:error:CODE`"),
    title: string("The meaning of the code."),
    status: whole("The HTTP status."),
    detail: string("The problem, and the fix."),
    code: CODE,
    ...details,
    requestId: string("The response's `X-Request-Id`."),
    result: TOOL_RESULT,
  },
  ["type", "title", "status", "detail", "code", "requestId"],
);

/** The error of one rejected item within an answer. */
export const TOLD_ERROR = entry(
  "Why the item was refused.",
  {
    code: CODE,
    message: string("What is wrong."),
    ...details,
  },
  ["code", "message"],
);
