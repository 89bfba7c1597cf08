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

/** The longest name, id or key. They are stored and compared, and real ones are shorter. */
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

/** The shape of a request to run one tool. Other members are ignored in code. */
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
      cache: flag("False runs the tool even if its result is cached. Defaults to true."),
      /** False leaves checking the arguments to the tool's own source, whose answer is then the caller's. */
      checkArguments: hinted(flag("False leaves checking the arguments to the tool's own source."), {
        onlyInCode: true,
      }),
      /** Time one attempt may take, 100 to 300,000 ms. Defaults to the tool's own, then to the configured one. */
      timeoutMs: hinted(number("Milliseconds that one attempt may take.", LIMITS.timeoutMinMs, LIMITS.timeoutMaxMs), {
        problem: "is out of range",
        fix: "Give 100 to 300000 milliseconds, or leave it out.",
      }),
      /**
       * The time at which the caller stops waiting, in milliseconds since the epoch. Bounds the whole call, with its waits and attempts. Defaults to
       * none.
       */
      deadline: deadline("When you stop waiting. Bounds the whole call."),
      /** Attempts in all, 1 to 5; 0 or omitted: the default of its ensemble, then the configured one. Only calls that are safe to repeat are retried. */
      retryCount: hinted(whole("Attempts in all. 0: the default.", 0, 5), {
        problem: "is out of range",
        fix: "Give a whole number from 0 to 5, or leave it out.",
      }),
      /** True requires a confirmation even if the policy does not. It can add a confirmation, never remove one. */
      requireConfirmation: flag("True asks for a person's approval whatever the policy says."),
      /** The approved confirmation this call redeems. */
      confirmationId: id("The approved confirmation that this call redeems."),
      /**
       * A name for this one call, 1 to 255 characters, unique among the caller's calls of the tool: repeating the call with it, when its answer was
       * lost, gives the same result and runs nothing again. With other arguments it is refused. It is remembered for a day.
       */
      idempotencyKey: hinted(
        refined(
          text(
            "Repeating the call with the same key returns the first result and runs nothing. Also the header `Idempotency-Key`.",
          ),
          { maxLength: 255 },
        ),
        {
          fits: (value) => typeof value === "string" && value !== "" && value.length <= 255,
          problem: "is not a key",
          fix: "Give 1 to 255 characters, or leave it out.",
        },
      ),
      /** The trace that the call belongs to: 32 hexadecimal digits for one that other programs can continue. Defaults to a new one. */
      traceId: id("Your trace id. Defaults to that of the header `traceparent`."),
      /** The span that makes the call: 16 hexadecimal digits. */
      parentSpanId: id("Your span. Defaults to that of the header `traceparent`."),
      /** False if the caller does not record its trace. Then no span of it is exported, and upstreams learn that too. Defaults to true. */
      sampled: hinted(flag("False if you do not record the trace. Defaults to true."), { onlyInCode: true }),
      /** The header `tracestate` (W3C Trace Context) of the trace, passed on to upstreams. An invalid one is ignored. */
      tracestate: hinted(string("The header `tracestate` of the trace."), { onlyInCode: true }),
      /** The id that the model gave the call, for traces. */
      callId: hinted(id("The id that the model gave the call, for traces."), { onlyInCode: true }),
      /** The caller. Defaults to the local operator. */
      principal: hinted(schema<Principal>({ description: "The caller. Defaults to the local operator." }), {
        fits: isPrincipal,
        problem: "is not a principal",
        fix: "Give { id, roles, capabilities, scopes, local }.",
        onlyInCode: true,
      }),
      /** The toolset that the caller looks through. Defaults to the whole catalog. */
      toolset: id("Limits the request to the tools of this toolset."),
      /** True for a call that a program or a workflow makes while it runs. */
      inRun: hinted(flag("True for a call that a program or a workflow makes."), { onlyInCode: true }),
      /** Passed to the handler unchanged. */
      auxdata: anything("Passed to the handler as it is."),
      /** The client's request behind the call, for surfaces that use a source's protocol. Only that source's handlers get the request. */
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

/** The shape of several calls. */
export const BATCH = hinted(
  openEntry(
    "Several calls.",
    {
      calls: hinted(refined(list<ToolCall>("The calls; over REST, at most 100.", TOOL_CALL), { maxItems: 100 }), {
        // A call that is malformed gets a result of its own, and code may pass any number of calls.
        fits: Array.isArray,
        problem: "is not an array",
        fix: "Give an array of calls.",
      }),
      /**
       * `parallel`: all at once; `sequential`: one after the other; `adaptive` (the default): neighbours that are confirmed read-only run at
       * once, everything else in order.
       */
      strategy: hinted(
        choice(
          "`adaptive`, the default, runs neighbours at once if they are confirmed read-only, and the rest in order.",
          ["parallel", "sequential", "adaptive"],
        ),
        { problem: "is unknown", fix: 'Give "parallel", "sequential" or "adaptive".' },
      ),
      /** Cancels what has not finished once one call fails. */
      failFast: hinted(flag("Cancels what has not finished once a call fails."), { fix: "Give true or false." }),
      /** The deadline of every call in the batch, unless the call has an earlier one. */
      deadline: deadline("The deadline of every call that has no earlier one."),
      signal,
    },
    ["calls"],
  ),
  { problem: "is not an object", fix: "Give { calls }." },
);

/** Several calls. */
export interface BatchCall extends InputOf<typeof BATCH> {}
