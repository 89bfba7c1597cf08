import type { ArsenalEvent, EventMap, EventName, StepTime } from "../../../observe/events.ts";
import { timeSteps } from "../../../observe/retrieval-steps.ts";
import { sha256 } from "../../../tool/crypto.ts";
import type { ToolSource } from "../../../tool/tool.ts";
import { type AttributeLimits, type Attributes, clip, toKeyValues } from "./attributes.ts";
import { type Span, SPAN_KIND, type SpanKind, STATUS_ERROR, toNanos } from "./otlp.ts";

/** How spans are made. */
export interface SpanSettings {
  readonly limits: AttributeLimits;
  /** Whether the words of requests are exported. */
  readonly captureContent: boolean;
  /** Makes ids for spans that nobody else knows of. */
  readonly spanId: () => string;
}

/** Events that are spans, with everything below them. */
const SPANNED = {
  "retrieval-finished": retrieval,
  "retrieval-failed": failedRetrieval,
  "call-finished": call,
  "upstream-called": upstream,
  "request-finished": request,
} satisfies { readonly [Name in keyof EventMap]?: (data: EventMap[Name], add: Add, settings: SpanSettings) => void };

type SpannedEvent = ArsenalEvent<keyof typeof SPANNED>;

/** True for events that may be spans. */
export function isSpanName(name: EventName): boolean {
  return Object.hasOwn(SPANNED, name);
}

/** True for an event that `toSpans` makes spans of. A trace that its caller does not record has none. */
export function isSpanned(event: ArsenalEvent): event is SpannedEvent {
  return isSpanName(event.name) && (event as SpannedEvent).data.sampled !== false;
}

/** The span of an event, and those of its steps. */
export function toSpans({ name, data }: SpannedEvent, settings: SpanSettings): readonly Span[] {
  const spans: Span[] = [];
  const traceId = toTraceId(data.traceId);
  const foreign = traceId === data.traceId ? undefined : { "toolarsenal.trace_id": data.traceId };
  const make = SPANNED[name] as (data: SpannedEvent["data"], add: Add, settings: SpanSettings) => void;
  make(
    data,
    (given) => {
      const { spanId = settings.spanId(), parentSpanId, name: called, kind = SPAN_KIND.internal, error } = given;
      const { startedAt, durationMs } = given;
      const all = foreign === undefined ? given.attributes : { ...given.attributes, ...foreign };
      const { attributes, droppedAttributesCount } = all === undefined ? NONE : toKeyValues(all, settings.limits);
      // Every span has the same shape, which is cheap to make and to write; what is undefined is left out there.
      spans.push({
        traceId,
        spanId,
        parentSpanId: parentSpanId !== undefined && SPAN_ID.test(parentSpanId) ? parentSpanId : undefined,
        traceState: data.tracestate,
        flags: SAMPLED,
        name: clip(called, settings.limits.maxLength),
        kind,
        startTimeUnixNano: toNanos(startedAt),
        endTimeUnixNano: toNanos(startedAt + Math.max(0, durationMs)),
        attributes,
        droppedAttributesCount,
        status: error === undefined ? undefined : failed(error, settings.limits.maxLength),
      });
      return spanId;
    },
    settings,
  );
  return spans;
}

const NONE: ReturnType<typeof toKeyValues> = { attributes: [] };

function failed(error: string, maxLength: number): NonNullable<Span["status"]> {
  return error === "" ? { code: STATUS_ERROR } : { code: STATUS_ERROR, message: clip(error, maxLength) };
}

/** The W3C flag of a trace that is recorded. */
const SAMPLED = 1;
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;

/** A trace id of 16 bytes. Callers may name their traces in other ways; equal names have equal ids. */
export function toTraceId(traceId: string): string {
  return TRACE_ID.test(traceId) ? traceId : sha256(traceId).slice(0, 32);
}

interface GivenSpan extends StepTime {
  readonly spanId?: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** What went wrong, in words or empty. Undefined if nothing did. */
  readonly error?: string | undefined;
}

/** Where a span stands and how long it took, without what else its event says. */
function placeOf({ spanId, parentSpanId, startedAt, durationMs }: SpannedEvent["data"]): Omit<GivenSpan, "name"> {
  return { spanId, parentSpanId, startedAt, durationMs };
}

/** Adds a span and returns its id. */
type Add = (span: GivenSpan) => string;

function retrieval(data: EventMap["retrieval-finished"], add: Add, { captureContent }: SpanSettings): void {
  const { tools, toolset } = data;
  const parentSpanId = add({
    ...placeOf(data),
    name: `retrieval ${toolset ?? CATALOG}`,
    attributes: {
      "gen_ai.operation.name": "retrieval",
      "gen_ai.data_source.id": toolset ?? CATALOG,
      ...(captureContent && { "gen_ai.retrieval.query.text": data.query }),
      "toolarsenal.toolset": toolset,
      "toolarsenal.retrieval.tools": tools.map(({ toolId }) => toolId),
      "toolarsenal.retrieval.scores": tools.map(({ score }) => score.toFixed(3)),
      "toolarsenal.retrieval.candidates": data.candidateCount,
      "toolarsenal.retrieval.filtered": data.filteredCount,
      "toolarsenal.retrieval.confidence": data.confidence,
      "toolarsenal.retrieval.nothing_fits": data.nothingFits,
      "toolarsenal.retrieval.tier": data.tier,
    },
  });
  for (const { name, afterMs, durationMs } of timeSteps(data.steps))
    add({ name, parentSpanId, startedAt: data.startedAt + afterMs, durationMs });
}

const CATALOG = "catalog";

function failedRetrieval(data: EventMap["retrieval-failed"], add: Add): void {
  const { toolset, code, message } = data;
  add({
    ...placeOf(data),
    name: `retrieval ${toolset ?? CATALOG}`,
    attributes: {
      "gen_ai.operation.name": "retrieval",
      "gen_ai.data_source.id": toolset ?? CATALOG,
      "error.type": code,
      "toolarsenal.toolset": toolset,
    },
    error: code === "CANCELLED" ? undefined : message,
  });
}

/** Statuses of calls that nothing went wrong with. */
const FINE: ReadonlySet<string> = new Set(["success", "pending_confirmation", "cancelled"]);

function call(data: EventMap["call-finished"], add: Add): void {
  const { toolId, status, code, message = "", source, steps } = data;
  const name = toolNameOf(toolId);
  const parentSpanId = add({
    spanId: data.spanId,
    parentSpanId: data.parentSpanId,
    startedAt: data.startedAt,
    durationMs: data.durationMs,
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
  });
  const { policy, queue, attempts = [] } = steps;
  if (policy !== undefined) addStep("policy", policy);
  if (queue !== undefined) addStep("queue", queue);
  for (const [at, attempt] of attempts.entries()) {
    const { spanId, startedAt, durationMs, code: failure } = attempt;
    const attributes = { "toolarsenal.attempt": at + 1, "error.type": failure };
    const error = failure === undefined || failure === "CANCELLED" ? undefined : "";
    add({ spanId, parentSpanId, startedAt, durationMs, name: `attempt ${at + 1}`, attributes, error });
  }

  function addStep(step: string, { startedAt, durationMs }: StepTime): void {
    add({ parentSpanId, startedAt, durationMs, name: step });
  }
}

/** `function` for what this program runs itself, `extension` for what it calls elsewhere. */
function toolTypeOf(source: ToolSource): string {
  return source === "mcp" || source === "openapi" || source === "a2a" ? "extension" : "function";
}

/** The name in an id, `billing.refund_user`. */
function toolNameOf(toolId: string): string {
  return toolId.slice(toolId.lastIndexOf(".") + 1);
}

function upstream(data: EventMap["upstream-called"], add: Add): void {
  const { source, method, target, transport, code } = data;
  const isHttp = source !== "mcp";
  const named = isHttp ? { "http.request.method": method, "url.template": target } : mcpTarget(method, target);
  add({
    ...placeOf(data),
    name: target === undefined || (!isHttp && !isNamed(method)) ? method : `${method} ${target}`,
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
  });
}

function request(data: EventMap["request-finished"], add: Add): void {
  const { kind, method, target, status, error } = data;
  const isHttp = kind === "http";
  const failedStatus = status !== undefined && status >= 500 ? String(status) : undefined;
  const named = isHttp
    ? { "http.request.method": method, "http.route": target, "http.response.status_code": status }
    : { ...mcpTarget(method, target), "jsonrpc.request.id": data.requestId };
  add({
    ...placeOf(data),
    name: target === undefined || (!isHttp && !isNamed(method)) ? method : `${method} ${target}`,
    kind: SPAN_KIND.server,
    attributes: {
      ...named,
      "mcp.protocol.version": data.protocolVersion,
      "mcp.session.id": data.sessionId,
      "error.type": error ?? failedStatus,
    },
    error: error === undefined && failedStatus === undefined ? undefined : "",
  });
}

/** Whether a method's spans are named after what it names. There are too many resources for that. */
function isNamed(method: string): boolean {
  return method === "tools/call" || method === "prompts/get";
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
