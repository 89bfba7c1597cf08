import type { ArsenalEvent, EventMap, EventName, StepTime } from "../../../observe/events.ts";
import { timeSteps } from "../../../observe/retrieval-steps.ts";
import { sha256 } from "../../../base/crypto.ts";
import type { ToolSource } from "../../../tool/tool.ts";
import { type AttributeLimits, type Attributes, withinLimits, clip } from "./attributes.ts";
import { SAMPLED, type Span, SPAN_KIND, type SpanKind, STATUS_ERROR } from "./otlp.ts";

export interface SpanSettings {
  readonly limits: AttributeLimits;
  /** Whether the text of requests is exported. */
  readonly captureContent: boolean;
  /** Creates ids for spans that only this sink uses. */
  readonly spanId: () => string;
}

/** Events that become spans. The first name of each list is for the event itself, the others are for its steps. */
const SPANNED = {
  "retrieval-finished": retrieval,
  "retrieval-failed": failedRetrieval,
  "call-finished": call,
  "upstream-called": upstream,
  "request-finished": request,
  "run-turned": run,
} satisfies { readonly [Name in keyof EventMap]?: (data: EventMap[Name], settings: SpanSettings) => readonly Span[] };

type SpannedEvent = ArsenalEvent<keyof typeof SPANNED>;

export function isSpanName(name: EventName): boolean {
  return Object.hasOwn(SPANNED, name);
}

/** True for an event that `toSpans` converts. Events of a trace that its caller does not record are excluded. */
export function isSpanned(event: ArsenalEvent): event is SpannedEvent {
  return isSpanName(event.name) && (event as SpannedEvent).data.sampled !== false;
}

export function toSpans({ name, data }: SpannedEvent, settings: SpanSettings): readonly Span[] {
  const make = SPANNED[name] as (data: SpannedEvent["data"], settings: SpanSettings) => readonly Span[];
  const spans = make(data, settings);
  const traceId = toTraceId(data.traceId);
  if (traceId === data.traceId) return spans;
  return spans.map((span) => {
    const named = { ...span.attributes, "toolarsenal.trace_id": data.traceId };
    const { attributes, droppedAttributesCount = 0 } = withinLimits(named, settings.limits);
    const dropped = (span.droppedAttributesCount ?? 0) + droppedAttributesCount;
    return { ...span, traceId, attributes, droppedAttributesCount: dropped };
  });
}

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;

/** Returns a trace id of 16 bytes. Callers may name their traces in other ways; equal names get equal ids. */
export function toTraceId(traceId: string): string {
  return TRACE_ID.test(traceId) ? traceId : sha256(traceId).slice(0, 32);
}

interface SpanSubject {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  /** The error text, which may be empty. Undefined without an error. */
  readonly error: string | undefined;
}

function spanOf(
  data: SpannedEvent["data"],
  { name, kind, attributes, error }: SpanSubject,
  limits: AttributeLimits,
): Span {
  const { traceId, spanId, parentSpanId, tracestate: traceState, startedAt, durationMs } = data;
  return {
    traceId,
    spanId,
    parentSpanId: parentSpanId !== undefined && SPAN_ID.test(parentSpanId) ? parentSpanId : undefined,
    traceState,
    name: clip(name, limits.maxLength),
    kind,
    startedAt,
    endedAt: startedAt + Math.max(0, durationMs),
    ...withinLimits(attributes, limits),
    status: error === undefined ? undefined : failed(error, limits.maxLength),
    flags: SAMPLED,
  };
}

function stepOf(
  { traceId, traceState, spanId: parentSpanId }: Span,
  name: string,
  { startedAt, durationMs }: StepTime,
  spanId: string,
  attributes = NONE,
  status?: Span["status"],
): Span {
  // Avoids spreading, which is slower. Most spans are steps.
  return {
    traceId,
    spanId,
    parentSpanId,
    traceState,
    name,
    kind: SPAN_KIND.internal,
    startedAt,
    endedAt: startedAt + Math.max(0, durationMs),
    attributes,
    droppedAttributesCount: undefined,
    status,
    flags: SAMPLED,
  };
}

const NONE: Attributes = {};

function failed(error: string, maxLength: number): NonNullable<Span["status"]> {
  return error === "" ? { code: STATUS_ERROR } : { code: STATUS_ERROR, message: clip(error, maxLength) };
}

function retrieval(
  data: EventMap["retrieval-finished"],
  { captureContent, limits, spanId }: SpanSettings,
): readonly Span[] {
  const { tools } = data;
  const attributes = {
    ...(captureContent && { "gen_ai.retrieval.query.text": data.query }),
    "toolarsenal.retrieval.tools": tools.map(({ toolId }) => toolId),
    "toolarsenal.retrieval.scores": tools.map(({ score }) => score.toFixed(3)),
    "toolarsenal.retrieval.candidates": data.candidateCount,
    "toolarsenal.retrieval.filtered": data.filteredCount,
    "toolarsenal.retrieval.confidence": data.confidence,
    "toolarsenal.retrieval.nothing_fits": data.nothingFits,
    "toolarsenal.retrieval.tier": data.tier,
  };
  const whole = spanOf(data, aboutRetrieval(data, attributes), limits);
  const steps = timeSteps(data.steps).map(({ name, afterMs, durationMs }) =>
    stepOf(whole, name, { startedAt: data.startedAt + afterMs, durationMs }, spanId()),
  );
  return [whole, ...steps];
}

function failedRetrieval(data: EventMap["retrieval-failed"], { limits }: SpanSettings): readonly Span[] {
  const { code, message } = data;
  const error = code === "CANCELLED" ? undefined : message;
  return [spanOf(data, { ...aboutRetrieval(data, { "error.type": code }), error }, limits)];
}

function aboutRetrieval({ toolset }: { readonly toolset?: string }, attributes: Attributes): SpanSubject {
  return {
    name: `retrieval ${toolset ?? "catalog"}`,
    kind: SPAN_KIND.internal,
    attributes: {
      "gen_ai.operation.name": "retrieval",
      "gen_ai.data_source.id": toolset ?? "catalog",
      "toolarsenal.toolset": toolset,
      ...attributes,
    },
    error: undefined,
  };
}

/** Statuses of calls without an error. */
const FINE: ReadonlySet<string> = new Set(["success", "pending_confirmation", "cancelled"]);

function call(data: EventMap["call-finished"], { limits, spanId }: SpanSettings): readonly Span[] {
  const { toolId, status, code, message = "", source, steps } = data;
  const name = toolId.slice(toolId.lastIndexOf(".") + 1);
  const about = {
    name: `execute_tool ${name}`,
    kind: SPAN_KIND.internal,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.type": source && toolTypeOf(source),
      "gen_ai.tool.call.id": data.callId,
      "error.type": code,
      "toolarsenal.tool.id": toolId,
      "toolarsenal.tool.source": source,
      "toolarsenal.ensemble": data.ensemble,
      "toolarsenal.toolset": data.toolset,
      "toolarsenal.principal": data.principal,
      "toolarsenal.call.status": status,
      "toolarsenal.call.attempts": data.attempts,
      "toolarsenal.call.cached": data.cached,
    },
    error: FINE.has(status) ? undefined : message,
  };
  const whole = spanOf(data, about, limits);
  const { policy, queue, attempts = [] } = steps;
  const spans = [whole];
  if (policy !== undefined) spans.push(stepOf(whole, "policy", policy, spanId()));
  if (queue !== undefined) spans.push(stepOf(whole, "queue", queue, spanId()));
  let number = 0;
  for (const attempt of attempts) {
    const { code: failure } = attempt;
    const attributes = { "toolarsenal.attempt": ++number, "error.type": failure };
    const problem = failure === undefined || failure === "CANCELLED" ? undefined : { code: STATUS_ERROR };
    spans.push(stepOf(whole, `attempt ${number}`, attempt, attempt.spanId, attributes, problem));
  }
  return spans;
}

/** Returns `function` for tools that this program runs itself, and `extension` for remote ones. */
function toolTypeOf(source: ToolSource): string {
  return source === "mcp" || source === "openapi" || source === "a2a" ? "extension" : "function";
}

function upstream(data: EventMap["upstream-called"], { limits }: SpanSettings): readonly Span[] {
  const { source, method, target, transport, code } = data;
  const isHttp = source !== "mcp";
  const named = isHttp ? { "http.request.method": method, "url.template": target } : mcpTarget(method, target);
  const about = {
    name: requestName(method, target, isHttp),
    kind: SPAN_KIND.client,
    attributes: {
      ...named,
      "mcp.protocol.version": isHttp ? undefined : data.protocolVersion,
      "mcp.session.id": data.sessionId,
      "network.transport": transport === "pipe" ? "pipe" : transport && "tcp",
      "network.protocol.name": transport === "http" ? "http" : undefined,
      "server.address": data.address,
      "server.port": data.port,
      "http.response.status_code": data.status,
      "error.type": code,
      "toolarsenal.tool.id": data.toolId,
      "toolarsenal.ensemble": data.ensemble,
    },
    error: code === undefined || code === "CANCELLED" ? undefined : "",
  };
  return [spanOf(data, about, limits)];
}

function request(data: EventMap["request-finished"], { limits }: SpanSettings): readonly Span[] {
  const { kind, method, target, status, error } = data;
  const isHttp = kind === "http";
  const failedStatus = status !== undefined && status >= 500 ? String(status) : undefined;
  const named = isHttp
    ? { "http.request.method": method, "http.route": target, "http.response.status_code": status }
    : { ...mcpTarget(method, target), "jsonrpc.request.id": data.requestId };
  const about = {
    name: requestName(method, target, isHttp),
    kind: SPAN_KIND.server,
    attributes: {
      ...named,
      "mcp.protocol.version": data.protocolVersion,
      "mcp.session.id": data.sessionId,
      "error.type": error ?? failedStatus,
    },
    error: error === undefined && failedStatus === undefined ? undefined : "",
  };
  return [spanOf(data, about, limits)];
}

/** Returns the parent span of the calls that a program or workflow makes. A waiting run has no span yet. */
function run(data: EventMap["run-turned"], { limits }: SpanSettings): readonly Span[] {
  const { runId, kind, status, calls, message = "" } = data;
  if (status === "waiting" || status === "running") return [];
  const about = {
    name: `run ${kind}`,
    kind: SPAN_KIND.internal,
    attributes: {
      "toolarsenal.run.id": runId,
      "toolarsenal.run.kind": kind,
      "toolarsenal.run.status": status,
      "toolarsenal.run.calls": calls,
      "toolarsenal.toolset": data.toolset,
      "toolarsenal.principal": data.principal,
    },
    error: status === "failed" ? message : undefined,
  };
  return [spanOf(data, about, limits)];
}

/** Span names include the target of the method, except for resources, because there are too many. */
function requestName(method: string, target: string | undefined, isHttp: boolean): string {
  const isNamed = isHttp || method === "tools/call" || method === "prompts/get";
  return target !== undefined && isNamed ? `${method} ${target}` : method;
}

function mcpTarget(method: string, target: string | undefined): Attributes {
  switch (method) {
    case "tools/call":
      return { "mcp.method.name": method, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": target };
    case "prompts/get":
      return { "mcp.method.name": method, "gen_ai.prompt.name": target };
    default:
      return { "mcp.method.name": method, "mcp.resource.uri": method.startsWith("resources/") ? target : undefined };
  }
}
