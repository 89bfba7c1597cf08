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
  entry(description, { p50: number("The median."), p95: number("The 95th percentile.") });

const STEP = {
  startedAt: time("When the step started."),
  durationMs: number("The duration, in milliseconds."),
} as const;

const RETRIEVAL = openEntry(
  "A past search. `kind` is `retrieval`.",
  {
    kind: { type: "string", const: "retrieval", description: "The kind of the record." },
    at: time("When the search or call ended."),
    traceId: string("The trace id."),
    query: string("The text of the request. Omitted if texts are not stored."),
    principal: string("The caller. Omitted for the local operator."),
    tenant: string("The tenant of the caller."),
    confidence: number("The probability that the tools fit the request."),
    nothingFits: flag("True if probably no tool fits the request."),
    durationMs: number("The duration, in milliseconds."),
    queryEmbeddingTimeMs: number("Time for embedding the request, in milliseconds."),
    searchTimeMs: number("Time for searching the catalog, in milliseconds."),
    rerankTimeMs: number("Time for reranking, in milliseconds."),
    steps: RETRIEVAL_STEPS,
    toolIds: strings("The ids of the found tools, best first. Only in lists."),
    explanation: refined(RETRIEVAL_RESULT.properties.explanation, {
      description: "All signals of each tool that was returned or left out. Only in traces.",
    }),
  },
  ["kind", "at", "traceId", "durationMs"],
);

const CALL = openEntry(
  "A past call, without its arguments and result. `kind` is `call`.",
  {
    kind: { type: "string", const: "call", description: "The kind of the record." },
    at: time("When the search or call ended."),
    traceId: string("The trace id."),
    spanId: string("The call's span id."),
    parentSpanId: string("The id of the parent span."),
    toolId: string("The tool's id."),
    ensemble: string("The ensemble of the tool, such as its MCP server."),
    status: string("The outcome."),
    code: string("The error code."),
    message: string("Why the call failed. Omitted if texts are not stored."),
    attempts: whole("The number of attempts."),
    queuedMs: number("Time until the handler was called, in milliseconds."),
    latencyMs: number("Time from the start of the handler to its end, including retries, in milliseconds."),
    principal: string("The caller."),
    tenant: string("The tenant of the caller."),
    cost: number("The cost of the call, as the tool declares it."),
    startedAt: time("When the call arrived."),
    durationMs: number("Time until the result, in milliseconds."),
    steps: entry("The times of the call's steps.", {
      policy: entry("The guard's decision.", STEP),
      queue: entry("Checking limits and circuit breaker, and waiting in the queue.", STEP),
      attempts: list(
        "The attempts, in order.",
        entry("One attempt.", {
          ...STEP,
          spanId: string("The attempt's span id."),
          code: string("The error code, if the attempt failed."),
        }),
      ),
    }),
  },
  ["kind", "at", "traceId", "spanId", "toolId", "status", "attempts", "queuedMs", "latencyMs", "principal"],
);

const STATS = entry(
  "The statistics and the state of one process.",
  {
    since: time("When counting began."),
    calls: whole("The number of calls that ended."),
    errors: whole("The number of calls that failed or were refused. Calls that wait for approval do not count."),
    byStatus: { type: "object", additionalProperties: { type: "integer" }, description: "Calls by status." },
    callMs: PERCENTILES("How long calls ran, in milliseconds."),
    retrievals: whole("The number of searches."),
    retrievalMs: PERCENTILES("How long searches took, in milliseconds."),
    tokens: entry(
      "Estimated tokens of tool definitions.",
      {
        returned: whole("Tokens of the definitions that searches returned."),
        saved: whole("Tokens that were saved, compared with sending every definition for each search."),
        catalog: whole("Tokens of all definitions in the catalog. Omitted for a tenant."),
        savedCost: number("The price of the saved tokens. Omitted if no price is configured."),
      },
      ["returned", "saved"],
    ),
    cost: number("The cost of the calls, as the tools declare it."),
    currency: string("The currency of every cost: `USD`. Omitted if `telemetry.prices` is not configured."),
    folded: flag(
      "True if some calls of this tenant are counted together with calls of other tenants, so the figures are too low.",
    ),
    running: whole("The number of running calls. Omitted for a tenant."),
    waiting: whole("The number of queued calls. Omitted for a tenant."),
    approvalsPending: whole("The number of calls that wait for approval. Omitted for a tenant."),
    droppedEvents: whole("The number of events that sinks lost. Omitted for a tenant."),
    openBreakers: strings("Tools with an open circuit breaker, if you may see them."),
    conflicts: strings(
      "Tools whose definition in the shared catalog differs from the definition in this process. The shared definition is not used.",
    ),
    ensembles: list("The sources of tools, and the state of each.", STATUS),
    keeps: entry(
      "Which past records can be read.",
      {
        audit: flag("Whether an audit log is configured."),
        history: flag("Whether a history is stored."),
        arguments: flag(
          "Whether the audit log contains the arguments of calls. If false, it contains only their types.",
        ),
      },
      ["audit", "history"],
    ),
    minutes: list(
      "The last hour, oldest first. Omitted for a tenant.",
      entry(
        "One minute.",
        {
          at: time("The start of the minute."),
          calls: whole("The number of calls that ended in this minute."),
          errors: whole("The number of calls that failed in this minute."),
          p95Ms: number("The 95th percentile of the calls' duration, in milliseconds."),
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
    next: string("The cursor of the next page. Omitted on the last page."),
  },
  ["records"],
);

const TRACE = entry(
  "The stored records of the trace.",
  {
    traceId: string("The trace id."),
    retrievals: list("The trace's searches, oldest first.", RETRIEVAL),
    calls: list("The trace's calls, oldest first.", CALL),
  },
  ["traceId", "retrievals", "calls"],
);

const COSTS = entry(
  "The sums.",
  {
    costs: list(
      "The sums, highest cost first. Days are in order of time.",
      entry(
        "One sum.",
        {
          name: string("The tool, tenant or day."),
          calls: whole("The number of calls."),
          cost: number("The total cost of the calls."),
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
    summary: "Show the statistics and the state of this process since it started",
    description:
      "Each process counts its own calls. Percentiles are estimated from histograms. For the sum of all processes, read `/metrics` of each process with Prometheus. An operator who belongs to a tenant gets only that tenant's figures. Figures that exist only for the whole process are omitted.",
    answers: { 200: { description: "The numbers.", schema: STATS } },
    run: async ({ principal }, context) => ({ body: await administrationOf(context).overview(principal) }),
  }),
  operation("listHistory", "GET /history", {
    summary: "List past searches and calls, newest first",
    description:
      "The history has the records of all processes on the same state, as configured in `telemetry.history`. An operator who belongs to a tenant sees that tenant's records.",
    query: entry("", {
      kind: choice("Only searches, or only calls.", ["retrieval", "call"]),
      tool: refined(text("Only calls of this tool: its id, or a pattern such as `shop.*`."), { maxLength: 512 }),
      status: choice("Only calls with this outcome.", EXECUTION_STATUSES),
      ensemble: string("Only calls of the tools of this ensemble, such as an MCP server."),
      from: refined(text("Only records that ended at this time or later: 2026-05-04T12:00:00Z."), { maxLength: 1_024 }),
      to: refined(text("Only records that ended before this time."), { maxLength: 1_024 }),
      limit: whole("Maximum number of records on a page. Defaults to 50.", 1, 500),
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
        traceId: refined(string("A trace id, from a result or a record."), {
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
    summary: "Sum the cost of calls by tool, tenant or day",
    description:
      "Includes only calls of tools that declare a cost. An operator who belongs to a tenant sees that tenant's costs.",
    query: entry("", {
      by: choice("How to group the sums. Defaults to tool.", ["tool", "tenant", "day"]),
      days: whole("The number of days, including today. Defaults to 30.", 1, 400),
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
