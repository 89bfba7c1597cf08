import { ERROR_CODES } from "../../../errors/codes.ts";
import { EXECUTION_STATUSES } from "../../../execute/result.ts";
import { anyObject, choice, flag, integer, list, number, object, text, time } from "./write.ts";

const CODE = choice(Object.keys(ERROR_CODES), "One of the codes in docs/errors.md.");

const issue = object("One of several problems.", ["field", "message"], {
  field: text("Which field."),
  message: text("What is wrong with it."),
  value: { description: "What it held." },
  fix: text("What to do."),
});

const details = {
  field: text("Which field is wrong: `context.query`."),
  value: { description: "What it held; shortened if it is long." },
  fix: text("What to do about it."),
  issues: list(issue, "Each problem, if there are several."),
  retryAfterMs: number("Milliseconds after which trying again can succeed."),
} as const;

export const TOOL_CALL = object("A call of one tool.", ["toolName"], {
  toolName: text("The tool's id, qualified name (`billing.refund_user:1.0.0`), or its name if only one tool has it."),
  arguments: anyObject("The arguments, as the tool's parameters describe them."),
  cache: flag("False runs the tool even if its result is cached. Defaults to true."),
  timeoutMs: { ...number("Milliseconds that one attempt may take."), minimum: 100, maximum: 300_000 },
  deadline: time("When you stop waiting. Bounds the whole call."),
  retryCount: { type: "integer", minimum: 0, maximum: 5, description: "Attempts in all. 0: the default." },
  requireConfirmation: flag("True asks for a person's approval whatever the policy says."),
  confirmationId: text("The approved confirmation that this call redeems."),
  idempotencyKey: {
    ...text(
      "Repeating the call with the same key returns the first result and runs nothing. Also the header `Idempotency-Key`.",
    ),
    minLength: 1,
    maxLength: 255,
  },
  traceId: text("Your trace id. Defaults to that of the header `traceparent`."),
  parentSpanId: text("Your span. Defaults to that of the header `traceparent`."),
  toolset: text("Looks only at the tools of this toolset."),
  auxdata: anyObject("Passed to the handler as it is."),
});

export const TOOL_RESULT = object(
  "The outcome of one call. A failing tool is an outcome too: look at `status`.",
  ["toolName", "status", "queuedAt", "completedAt", "latencyMs", "attempts", "traceId", "spanId"],
  {
    toolName: text("The name as you gave it."),
    toolId: text("The tool that was meant."),
    status: choice(EXECUTION_STATUSES, "How the call ended."),
    result: { description: "What the tool returned." },
    error: object("Why the call did not succeed.", ["code", "message"], {
      code: CODE,
      message: text("What happened, and what to do."),
      ...details,
      beforeSend: flag("Nothing was sent yet, so repeating is safe."),
      answered: flag("The tool itself reported the error."),
    }),
    answer: { description: "The server's whole answer, for surfaces that speak its protocol." },
    confirmationId: text("Have this id approved, then repeat the call with it."),
    replayed: flag("The result of an earlier call with the same idempotency key."),
    cached: flag("The result of an earlier call, from the cache."),
    queuedAt: time("When the call came."),
    startedAt: time("When the handler was first called."),
    completedAt: time("When the call ended."),
    latencyMs: number("Milliseconds from the start of the handler to the end; 0 if it never started."),
    attempts: integer("How often the handler was called."),
    traceId: text("The call's trace id."),
    spanId: text("The call's span."),
  },
);

export const PROGRESS = object("How far a running call is.", ["progress"], {
  progress: number("How much is done."),
  total: number("Out of how much."),
  message: text("What it is doing."),
});

export const BATCH = object("Several calls.", ["calls"], {
  calls: { type: "array", items: TOOL_CALL, maxItems: 100, description: "The calls, at most 100." },
  strategy: choice(
    ["parallel", "sequential", "adaptive"],
    "`adaptive`, the default, runs neighbours at once if they are confirmed read-only, and the rest in order.",
  ),
  failFast: flag("Cancels what has not finished once a call fails."),
  deadline: time("The deadline of every call that has no earlier one."),
});

export const BATCH_RESULT = object(
  "The outcomes of a batch.",
  ["results", "totalTimeMs", "successfulCount", "failedCount"],
  {
    results: list(TOOL_RESULT, "In the order of the calls."),
    totalTimeMs: number("Milliseconds."),
    successfulCount: integer("Calls that succeeded."),
    failedCount: integer("Calls that failed. A call that waits for approval has neither failed nor succeeded."),
  },
);

/** Every refusal, as RFC 9457 has it. */
export const PROBLEM = object(
  "Why a request was refused.",
  ["type", "title", "status", "detail", "code", "requestId"],
  {
    type: text("`urn:toolarsenal:error:CODE`"),
    title: text("What the code means."),
    status: integer("The HTTP status."),
    detail: text("What happened, and what to do."),
    code: CODE,
    ...details,
    requestId: text("The answer's `X-Request-Id`."),
    result: TOOL_RESULT,
  },
);

/** An error within an answer: why one of many was refused. */
export const TOLD_ERROR = object("Why it was refused.", ["code", "message"], {
  code: CODE,
  message: text("What is wrong."),
  ...details,
});
