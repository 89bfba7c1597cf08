import { fixable } from "../../../errors/arsenal-error.ts";
import { EXECUTION_STATUSES } from "../../../execute/result.ts";
import { showValue } from "../../../errors/show-value.ts";
import { type RestResponse, type Operation, operationsOf } from "../operation.ts";
import { RETRIEVAL_RESULT, RETRIEVAL_STEPS } from "../schemas/search.ts";
import {
  choice,
  entry,
  flag,
  list,
  number,
  openEntry,
  refined,
  string,
  strings,
  text,
  time,
  whole,
} from "../../../tool/shape/shape.ts";
import { administrationOf } from "./administered.ts";
import { fromCursor, toCursor } from "./cursor.ts";
import { timeOf } from "./time-of.ts";
import { STATUS } from "./ensembles.ts";

const operation = operationsOf({ tag: "Observe", role: "operator" });

const PERCENTILES = (description: string) =>
  entry(description, { p50: number("Half were faster."), p95: number("95 % were faster.") });

const STEP = {
  startedAt: time("When it began."),
  durationMs: number("How long it took, in milliseconds."),
} as const;

const RETRIEVAL = openEntry(
  "A past search. `kind` is `retrieval`.",
  {
    kind: { type: "string", const: "retrieval", description: "The kind of the record." },
    at: time("When it ended."),
    traceId: string("The trace it is part of."),
    query: string("The request. Omitted if no text is kept."),
    principal: string("The caller; omitted for the local operator."),
    tenant: string("The tenant of the caller."),
    confidence: number("The probability that the tools fit the request."),
    nothingFits: flag("True if probably no tool fits the request."),
    durationMs: number("How long it took, in milliseconds."),
    queryEmbeddingTimeMs: number("The part that embedded the request."),
    searchTimeMs: number("The part that searched the catalog."),
    rerankTimeMs: number("The part that reranked."),
    steps: RETRIEVAL_STEPS,
    toolIds: strings("The found tools, best first. Only in lists."),
    explanation: refined(RETRIEVAL_RESULT.properties.explanation, {
      description: "Every signal of every tool that was chosen or left out. Only in traces.",
    }),
  },
  ["kind", "at", "traceId", "durationMs"],
);

const CALL = openEntry(
  "A past call, without its arguments and result. `kind` is `call`.",
  {
    kind: { type: "string", const: "call", description: "The kind of the record." },
    at: time("When it ended."),
    traceId: string("The trace it is part of."),
    spanId: string("Its span."),
    parentSpanId: string("The span that it is part of."),
    toolId: string("The tool."),
    ensemble: string("The ensemble of the tool, such as its MCP server."),
    status: string("The outcome."),
    code: string("The code of its error."),
    message: string("Why it failed. Omitted if no text is kept."),
    attempts: whole("The number of attempts."),
    queuedMs: number("Time before its handler was called."),
    latencyMs: number("Time from the start of its handler to its end, retries included."),
    principal: string("Who called."),
    tenant: string("The tenant of the caller."),
    cost: number("What it cost, as the tool declares."),
    startedAt: time("When the call arrived."),
    durationMs: number("The time until the answer, in milliseconds."),
    steps: entry("The times of its steps.", {
      policy: entry("The guard's decision.", STEP),
      queue: entry("Limits, breaker, and waiting for a turn.", STEP),
      attempts: list(
        "The attempts, in order.",
        entry("One attempt.", { ...STEP, spanId: string("Its span."), code: string("Why it failed.") }),
      ),
    }),
  },
  ["kind", "at", "traceId", "spanId", "toolId", "status", "attempts", "queuedMs", "latencyMs", "principal"],
);

const STATS = entry(
  "The statistics of one process, and its state.",
  {
    since: time("When counting began."),
    calls: whole("Calls that ended."),
    errors: whole("Calls that neither succeeded nor wait for an approval."),
    byStatus: { type: "object", additionalProperties: { type: "integer" }, description: "Calls by status." },
    callMs: PERCENTILES("How long calls ran, in milliseconds."),
    retrievals: whole("Searches."),
    retrievalMs: PERCENTILES("How long searches took, in milliseconds."),
    tokens: entry(
      "Estimated tokens of tool definitions.",
      {
        returned: whole("Tokens of the definitions that searches returned."),
        saved: whole("Additional tokens if every definition had been sent for each search."),
        catalog: whole("Tokens of all definitions in the catalog. Omitted for a tenant."),
        savedCost: number("What the saved tokens would have cost. Omitted if no price is configured."),
      },
      ["returned", "saved"],
    ),
    cost: number("What calls cost, as their tools declare."),
    currency: string("The currency of every cost: `USD`. Omitted if `telemetry.prices` is not configured."),
    folded: flag("Some calls of this tenant are counted together with those of others: the figures are too low."),
    running: whole("Calls that run now. Omitted for a tenant."),
    waiting: whole("Calls that wait for a place to run. Omitted for a tenant."),
    approvalsPending: whole("Calls that wait for an approval. Omitted for a tenant."),
    droppedEvents: whole("Events that a sink lost. Omitted for a tenant."),
    openBreakers: strings("Tools whose circuit breaker is open, of those you may see."),
    conflicts: strings(
      "Tools whose definition in the shared catalog differs from the one in this process. The shared definition is not used.",
    ),
    ensembles: list("The sources of tools, and the state of each.", STATUS),
    keeps: entry(
      "Which past records can be read.",
      {
        audit: flag("Whether there is an audit log."),
        history: flag("Whether there is a history."),
        arguments: flag("Whether the audit log holds the arguments of calls, and not only their types."),
      },
      ["audit", "history"],
    ),
    minutes: list(
      "The last hour, oldest first. Omitted for a tenant.",
      entry(
        "One minute.",
        {
          at: time("Its start."),
          calls: whole("Calls that ended in this period."),
          errors: whole("Failed calls of this period."),
          p95Ms: number("95 % ran for less than this, in milliseconds."),
        },
        ["at", "calls", "errors"],
      ),
    ),
  },
  ["since", "calls", "errors", "byStatus", "callMs", "retrievals", "retrievalMs", "tokens", "cost"],
);

const PAGE = entry(
  "One page.",
  {
    records: list("Searches and calls, newest first.", { anyOf: [RETRIEVAL, CALL] }),
    next: string("The cursor of the next page. Omitted on the last."),
  },
  ["records"],
);

const TRACE = entry(
  "The stored records of the trace.",
  {
    traceId: string("The trace."),
    retrievals: list("Its searches, oldest first.", RETRIEVAL),
    calls: list("Its calls, oldest first.", CALL),
  },
  ["traceId", "retrievals", "calls"],
);

const COSTS = entry(
  "The sums.",
  {
    costs: list(
      "Most expensive first; days in order.",
      entry(
        "One sum.",
        {
          name: string("The tool, tenant or day."),
          calls: whole("How many calls."),
          cost: number("What they cost together."),
        },
        ["name", "calls", "cost"],
      ),
    ),
    currency: string("The currency of the costs: `USD`. Omitted if `telemetry.prices` is not configured."),
  },
  ["costs"],
);

export const observeOperations: readonly Operation[] = [
  operation("getStats", "GET /stats", {
    summary: "Show what this process did since it started, and how it is doing",
    description:
      "Each process counts for itself; percentiles are estimated from histograms. For all processes together, read `/metrics` of each with Prometheus. An operator who belongs to a tenant gets that tenant's figures, without those that are only known of the whole process.",
    answers: { 200: { description: "The numbers.", schema: STATS } },
    run: async ({ principal }, context) => ({ body: await administrationOf(context).overview(principal) }),
  }),
  operation("listHistory", "GET /history", {
    summary: "List past searches and calls, newest first",
    description:
      "The history holds as much as `telemetry.history` says, from all processes on the same state. An operator who belongs to a tenant sees that tenant's.",
    query: entry("", {
      kind: choice("Only searches, or only calls.", ["retrieval", "call"]),
      tool: refined(text("Only calls of this tool: its id, or a pattern such as `shop.*`."), { maxLength: 512 }),
      status: choice("Only calls with this outcome.", EXECUTION_STATUSES),
      ensemble: string("Only calls of the tools of this ensemble, such as an MCP server."),
      from: refined(text("Only records that ended at this time or later: 2026-05-04T12:00:00Z."), { maxLength: 1_024 }),
      to: refined(text("Only records that ended before this time."), { maxLength: 1_024 }),
      limit: whole("Records on a page. Default 50.", 1, 500),
      cursor: refined(string("`next` of the previous page."), { maxLength: 1_024 }),
    }),
    answers: { 200: { description: "One page.", schema: PAGE } },
    problems: ["CONFIG_INVALID"],
    statusOf: { CONFIG_INVALID: 404 },
    async run({ query: { limit = 50, cursor, ...filter }, principal: { tenant }, signal }, context) {
      const { history } = administrationOf(context);
      if (history === undefined) return noHistory();
      const [at, shown] = fromCursor("history", PLACE, cursor) ?? [];
      const before = at === undefined ? undefined : { at: Number(at), shown: Number(shown) };
      const [from, to] = [timeOf("from", filter.from), timeOf("to", filter.to)];
      const { records, next } = await history.list({ ...filter, from, to, tenant }, { limit, before, signal });
      return { body: { records, ...(next && { next: toCursor("history", `${next.at}:${next.shown}`) }) } };
    },
  }),
  operation("getTrace", "GET /history/{traceId}", {
    summary: "Explain one trace: its searches with every signal, and its calls with every step",
    params: entry(
      "",
      {
        traceId: refined(string("A trace id, of a result or a record."), {
          examples: ["4bf92f3577b34da6a3ce929d0e0e4736"],
        }),
      },
      ["traceId"],
    ),
    answers: { 200: { description: "The stored records of the trace.", schema: TRACE } },
    problems: ["CONFIG_INVALID"],
    statusOf: { CONFIG_INVALID: 404 },
    async run({ params, principal: { tenant }, signal }, context) {
      const { history } = administrationOf(context);
      if (history === undefined) return noHistory();
      const traceId = params.traceId.toLowerCase();
      const found = await history.trace(traceId, { tenant, signal });
      if (found.retrievals.length + found.calls.length > 0) return { body: found };
      const problem = `No records of the trace ${showValue(params.traceId)} are stored.`;
      const fix = "List the stored records with GET /api/v1/history.";
      const details = { field: "traceId", value: params.traceId };
      return { refused: fixable("INPUT_INVALID", problem, fix, details), status: 404 };
    },
  }),
  operation("getCosts", "GET /costs", {
    summary: "Add up what calls cost, by tool, tenant or day",
    description:
      "Only calls of tools that declare a cost count. An operator who belongs to a tenant sees that tenant's.",
    query: entry("", {
      by: choice("The grouping. Default tool.", ["tool", "tenant", "day"]),
      days: whole("The last days, today included. Default 30.", 1, 400),
    }),
    answers: { 200: { description: "The sums.", schema: COSTS } },
    problems: ["CONFIG_INVALID"],
    statusOf: { CONFIG_INVALID: 404 },
    async run({ query: { by = "tool", days = 30 }, principal: { tenant }, signal }, context) {
      const { history } = administrationOf(context);
      if (history === undefined) return noHistory();
      const { currency } = history;
      const costs = await history.costs({ by, days, tenant, signal });
      return { body: { costs, ...(currency !== undefined && { currency }) } };
    },
  }),
];

/** Matches the content of a cursor: a time, and the number of shown records with that time. */
const PLACE = /^(\d{1,15}(?:\.\d{1,9})?):(\d{1,9})$/;

function noHistory(): RestResponse {
  const problem = "This gateway has no history of searches and calls.";
  const fix = "Set state.type to something that outlives the process, or telemetry.history.enabled to true.";
  return { refused: fixable("CONFIG_INVALID", problem, fix, { field: "telemetry.history" }), status: 404 };
}
