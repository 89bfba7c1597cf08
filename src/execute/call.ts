import type { Principal } from "../guard/principal.ts";
import type { Progress, SourceRequest } from "../tool/handler.ts";
import { LIMITS } from "../tool/limits.ts";
import { isPrincipal, isSignal } from "../tool/shape/check.ts";
import {
  anything,
  choice,
  flag,
  hinted,
  type InputOf,
  list,
  number,
  openEntry,
  refined,
  schema,
  type Shape,
  string,
  text,
  time,
  whole,
} from "../tool/shape/shape.ts";

/** The maximum length of names, ids and keys, because they are stored and compared. */
const MAX_LENGTH = { maxLength: 1_024 };
const id = (description: string): Shape<string, string, false> => refined(string(description), MAX_LENGTH);

const deadline = (description: string): Shape<number, number, false> =>
  hinted(time(description), {
    problem: "is not a time",
    fix: "Give milliseconds since the epoch, or leave it out.",
  });

const signal = hinted(schema<AbortSignal>({ description: "Cancels the call, or the calls of the batch." }), {
  fits: isSignal,
  problem: "is not an AbortSignal",
  fix: "Give the signal of an AbortController, or leave it out.",
  onlyInCode: true,
});

/** Describes a request to run one tool. Other members are ignored in code. */
export const TOOL_CALL = hinted(
  openEntry(
    "A call of one tool.",
    {
      /** The tool's id (`billing.refund_user`), qualified name (`billing.refund_user:1.0.0`), or its name if only one tool has it. */
      toolName: hinted(
        refined(
          text("The tool's id, qualified name (`billing.refund_user:1.0.0`), or its name if only one tool has it."),
          MAX_LENGTH,
        ),
        { problem: "is not a name", fix: "Give the tool's id or name, such as billing.refund_user." },
      ),
      arguments: hinted(anything("The arguments, as the tool's parameters describe them."), {
        fix: "Give an object with one member for each parameter.",
      }),
      /** False runs the tool even if `execution.result_cache` holds its result, which the new one then replaces. Defaults to true. */
      cache: flag("Whether a cached result may be returned. False always runs the tool. Defaults to true."),
      /** False lets the tool's own source check the arguments. The caller then gets the errors of the source. */
      checkArguments: hinted(flag("False leaves checking the arguments to the tool's own source."), {
        onlyInCode: true,
      }),
      /** The timeout of one attempt, 100 to 300,000 ms. Defaults to the tool's own, then to the configured one. */
      timeoutMs: hinted(number("Timeout of one attempt, in milliseconds.", LIMITS.timeoutMinMs, LIMITS.timeoutMaxMs), {
        problem: "is out of range",
        fix: "Give 100 to 300000 milliseconds, or leave it out.",
      }),
      /** When the caller stops waiting, in milliseconds since the epoch. Limits the whole call with all waits and attempts. Defaults to none. */
      deadline: deadline("Time limit for the whole call, including retries."),
      /**
       * The maximum number of attempts, 1 to 5. If 0 or omitted, the setting of the ensemble applies, then the configured one. Only calls that are
       * safe to repeat are retried.
       */
      retryCount: hinted(
        whole("Maximum number of attempts, including the first. 0 means the configured number.", 0, 5),
        {
          problem: "is out of range",
          fix: "Give a whole number from 0 to 5, or leave it out.",
        },
      ),
      /** True requires an approval even if the policy does not. False never removes one. */
      requireConfirmation: flag("True requires a person's approval, even if the policy does not."),
      confirmationId: id("Id of the approval with which this call runs."),
      /**
       * Identifies this call among the caller's calls of the tool, 1 to 255 characters. A repeated call with the same key returns the first result
       * and runs nothing. With other arguments, it is refused. Keys are kept for a day.
       */
      idempotencyKey: hinted(
        refined(
          text(
            "Idempotency key. Repeating the call with the same key returns the first result without running the tool again. The header `Idempotency-Key` has the same effect.",
          ),
          { maxLength: 255 },
        ),
        {
          fits: (value) => typeof value === "string" && value !== "" && value.length <= 255,
          problem: "is not a key",
          fix: "Give 1 to 255 characters, or leave it out.",
        },
      ),
      /** The trace of the call. Other programs can continue the trace if the id has 32 hexadecimal digits. Defaults to a new trace. */
      traceId: id("Your trace id. Defaults to the trace id in the header `traceparent`."),
      /** The caller's span: 16 hexadecimal digits. */
      parentSpanId: id("Your span id. Defaults to the span id in the header `traceparent`."),
      /** False if the caller does not record its trace. Its spans are then not exported, and upstreams get the flag too. Defaults to true. */
      sampled: hinted(flag("False if you do not record the trace. Defaults to true."), { onlyInCode: true }),
      /** The header `tracestate` (W3C Trace Context), which is passed to upstreams. An invalid value is ignored. */
      tracestate: hinted(string("The header `tracestate` of the trace."), { onlyInCode: true }),
      /** The id that the model gave the call, for traces. */
      callId: hinted(id("The id that the model gave the call, for traces."), { onlyInCode: true }),
      principal: hinted(schema<Principal>({ description: "The caller. Defaults to the local operator." }), {
        fits: isPrincipal,
        problem: "is not a principal",
        fix: "Give { id, roles, capabilities, scopes, local }.",
        onlyInCode: true,
      }),
      /** The caller's toolset. Defaults to the whole catalog. */
      toolset: id("Limits the request to the tools of this toolset."),
      inRun: hinted(flag("True for a call that a program or a workflow makes."), { onlyInCode: true }),
      /** Passed to the handler unchanged. */
      auxdata: anything("Your own data, passed to the handler unchanged."),
      /** The client's request behind the call, for surfaces that speak a source's protocol. Only handlers of that source receive it. */
      request: hinted(schema<SourceRequest>({ description: "The client's request behind the call.", type: "object" }), {
        onlyInCode: true,
      }),
      signal,
      onProgress: hinted(schema<(update: Progress) => void>({ description: "Called with each step of progress." }), {
        fits: (value) => typeof value === "function",
        problem: "is not a function",
        fix: "Give a function, or leave it out.",
        onlyInCode: true,
      }),
    },
    ["toolName"],
  ),
  { problem: "is not an object", fix: "Give { toolName, arguments }." },
);

/** A request to run one tool. */
export interface ToolCall extends InputOf<typeof TOOL_CALL> {}

export const BATCH = hinted(
  openEntry(
    "Several calls.",
    {
      calls: hinted(refined(list<ToolCall>("The calls. Over REST, at most 100.", TOOL_CALL), { maxItems: 100 }), {
        // A malformed call gets its own result. Code may pass any number of calls.
        fits: Array.isArray,
        problem: "is not an array",
        fix: "Give an array of calls.",
      }),
      /**
       * `parallel` runs all calls at once, `sequential` one after the other. `adaptive` (the default) runs adjacent calls at once if they are
       * confirmed read-only, and everything else in order.
       */
      strategy: hinted(
        choice(
          "How the calls run. `parallel`: all at once; `sequential`: one after the other; `adaptive`: adjacent calls run at once if their tools are confirmed read-only, and other calls run in order. Defaults to `adaptive`.",
          ["parallel", "sequential", "adaptive"],
        ),
        { problem: "is unknown", fix: 'Give "parallel", "sequential" or "adaptive".' },
      ),
      /** True cancels the unfinished calls once one call fails. */
      failFast: hinted(flag("Cancels the unfinished calls when one call fails."), { fix: "Give true or false." }),
      /** The deadline of every call without an earlier deadline of its own. */
      deadline: deadline("Time limit for the whole batch. It applies to every call without an earlier deadline."),
      signal,
    },
    ["calls"],
  ),
  { problem: "is not an object", fix: "Give { calls }." },
);

/** Several calls. */
export interface BatchCall extends InputOf<typeof BATCH> {}
