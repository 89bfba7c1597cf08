import type { Principal } from "../../guard/principal.ts";
import type { Caller, HandlerContext, Progress } from "../../tool/handler.ts";
import type { Tool } from "../../tool/tool.ts";
import { readTracestate } from "../../base/trace-headers.ts";
import type { RunningEngine } from "../engine.ts";
import type { CheckedCall } from "../running-call.ts";

export interface CallIds {
  readonly traceId: string;
  readonly spanId: string;
}

export function createStates() {
  const states = new Map<string, Map<string, unknown>>();
  return (tool: Tool): Map<string, unknown> => {
    const key = groupOf(tool);
    let state = states.get(key);
    if (state === undefined) states.set(key, (state = new Map<string, unknown>()));
    return state;
  };
}

/** Groups tools that share state: by ensemble, or by namespace if there is no ensemble. */
export function groupOf({ ensemble, namespace }: Tool): string {
  return ensemble === undefined ? `namespace ${namespace}` : `ensemble ${ensemble}`;
}

interface Attempt extends Required<Pick<HandlerContext, "attempt" | "signal" | "deadline">> {
  readonly attemptSpanId: string;
}

const W3C_TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;

/** Creates the second argument of a handler, for one attempt. Ignores progress after `close`. */
export function createHandlerContext(
  { call, tool, request, ids }: CheckedCall,
  { stateOf, emit, clock, traceIds }: Pick<RunningEngine, "stateOf" | "emit" | "clock" | "traceIds">,
  { attempt, attemptSpanId, signal, deadline }: Attempt,
): { readonly context: HandlerContext; readonly answersRequest: () => boolean; close(): void } {
  const isW3c = W3C_TRACE_ID.test(ids.traceId);
  const tracestate = isW3c && call.tracestate !== undefined ? readTracestate(call.tracestate) : undefined;
  const traceparentOf = (spanId: string): string | undefined =>
    isW3c ? `00-${ids.traceId}-${spanId}-${call.sampled === false ? "00" : "01"}` : undefined;
  let open = true;
  let answers = false;
  const context: HandlerContext = {
    auxdata: call.auxdata ?? {},
    tool,
    caller: toCaller(request.principal),
    ...(request.confirmationId !== undefined && { approved: true }),
    state: stateOf(tool),
    signal,
    deadline,
    traceId: ids.traceId,
    spanId: ids.spanId,
    traceparent: traceparentOf(attemptSpanId),
    tracestate,
    beginRequest() {
      // Without a listener, the request gets no span of its own.
      if (emit.wants?.("upstream-called") === false)
        return { traceparent: context.traceparent, tracestate, recorded: false, end: ignore };
      const spanId = traceIds.spanId();
      const startedAt = clock.now();
      return {
        traceparent: traceparentOf(spanId),
        tracestate,
        recorded: true,
        end(outcome) {
          const { id: toolId, source, ensemble } = tool;
          emit("upstream-called", {
            ...outcome,
            toolId,
            source,
            ...(ensemble !== undefined && { ensemble }),
            traceId: ids.traceId,
            spanId,
            parentSpanId: attemptSpanId,
            ...(call.sampled === false && { sampled: false }),
            ...(tracestate !== undefined && { tracestate }),
            startedAt,
            durationMs: clock.now() - startedAt,
          });
        },
      };
    },
    attempt,
    ...(call.request?.source === tool.source && {
      request: call.request,
      answersRequest: () => void (answers = true),
    }),
    progress(update) {
      if (!open || !isProgress(update)) return;
      const { progress, total, message } = update;
      const reported: Progress = {
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      };
      emit("call-progressed", { toolId: tool.id, traceId: ids.traceId, spanId: ids.spanId, ...reported });
      try {
        const returned: unknown = call.onProgress?.(reported);
        if (returned instanceof Promise) returned.catch(() => {});
      } catch {
        // A listener that throws must not affect the call.
      }
    },
  };
  return { context, answersRequest: () => answers, close: () => void (open = false) };
}

function ignore(): void {}

/** Handlers get the identity of the caller, not its permissions. */
const toCaller = ({ id, tenant, local }: Principal): Caller => ({
  id,
  ...(tenant !== undefined && { tenant }),
  ...(local && { local }),
});

function isProgress(update: unknown): update is Progress {
  return typeof update === "object" && update !== null && Number.isFinite((update as Progress).progress);
}
