import { fixable } from "../../../errors/arsenal-error.ts";
import { EXECUTION_STATUSES } from "../../../execute/result.ts";
import { showValue } from "../../../errors/show-value.ts";
import { type RestResponse, type Operation, operationsOf } from "../operation.ts";
import { RETRIEVAL_RESULT, RETRIEVAL_STEPS } from "../schemas/search.ts";
import {
  choice,
  described,
  flag,
  integer,
  list,
  number,
  object,
  openObject,
  text,
  texts,
  time,
} from "../schemas/write.ts";
import { administrationOf } from "./administered.ts";
import { fromCursor, toCursor } from "./cursor.ts";
import { STATUS } from "./ensembles.ts";

const operation = operationsOf({ tag: "Observe", role: "operator" });

const PERCENTILES = (description: string) =>
  object(description, [], { p50: number("Half were faster."), p95: number("95 % were faster.") });

const STEP = {
  startedAt: time("When it began."),
  durationMs: number("How long it took, in milliseconds."),
} as const;

const RETRIEVAL = openObject("A past search. `kind` is `retrieval`.", ["kind", "at", "traceId", "durationMs"], {
  kind: { type: "string", const: "retrieval", description: "What it is." },
  at: time("When it ended."),
  traceId: text("The trace it is part of."),
  query: text("The request. Omitted if no text is kept."),
  principal: text("Who asked; omitted for the local operator."),
  tenant: text("The tenant of who asked."),
  confidence: number("How likely it is that the tools serve the request."),
  nothingFits: flag("Whether nothing was likely to serve it."),
  durationMs: number("How long it took, in milliseconds."),
  queryEmbeddingTimeMs: number("The part of it that embedded the request."),
  searchTimeMs: number("The part of it that searched the catalog."),
  rerankTimeMs: number("The part of it that reranked."),
  steps: RETRIEVAL_STEPS,
  toolIds: texts("The tools it found, best first. In a list only."),
  explanation: described(
    RETRIEVAL_RESULT.properties.explanation,
    "Every signal of every tool that was chosen or left out. In a trace only.",
  ),
});

const CALL = openObject(
  "A past call, without its arguments and result. `kind` is `call`.",
  ["kind", "at", "traceId", "spanId", "toolId", "status", "attempts", "queuedMs", "latencyMs", "principal"],
  {
    kind: { type: "string", const: "call", description: "What it is." },
    at: time("When it ended."),
    traceId: text("The trace it is part of."),
    spanId: text("Its span."),
    parentSpanId: text("The span that it is part of."),
    toolId: text("The tool."),
    ensemble: text("The ensemble of the tool, such as its MCP server."),
    status: text("How it ended."),
    code: text("The code of its error."),
    message: text("Why it failed. Omitted if no text is kept."),
    attempts: integer("How often the tool was tried."),
    queuedMs: number("Time before its handler was called."),
    latencyMs: number("Time from the start of its handler to its end, retries included."),
    principal: text("Who called."),
    tenant: text("The tenant of who called."),
    cost: number("What it cost, as the tool declares."),
    startedAt: time("When it came."),
    durationMs: number("How long it took until it was answered."),
    steps: object("When its steps happened.", [], {
      policy: object("The guard's decision.", [], STEP),
      queue: object("Limits, breaker, and waiting for a turn.", [], STEP),
      attempts: list(
        object("One attempt.", [], { ...STEP, spanId: text("Its span."), code: text("Why it failed.") }),
        "The attempts, in order.",
      ),
    }),
  },
);

const STATS = object(
  "What one process did, and how it fares.",
  ["since", "calls", "errors", "byStatus", "callMs", "retrievals", "retrievalMs", "tokens", "cost"],
  {
    since: time("When counting began."),
    calls: integer("Calls that ended."),
    errors: integer("Calls that neither succeeded nor wait for an approval."),
    byStatus: { type: "object", additionalProperties: { type: "integer" }, description: "Calls by status." },
    callMs: PERCENTILES("How long calls ran, in milliseconds."),
    retrievals: integer("Searches."),
    retrievalMs: PERCENTILES("How long searches took, in milliseconds."),
    tokens: object("Estimated tokens of definitions.", ["returned", "saved"], {
      returned: integer("What searches returned."),
      saved: integer("What sending every definition for each search would have added."),
      catalog: integer("Every definition in the catalog, sent once. Omitted for a tenant."),
      savedCost: number("What the saved tokens would have cost. Omitted if no price is configured."),
    }),
    cost: number("What calls cost, as their tools declare."),
    currency: text("The currency of every cost: `USD`. Omitted if `telemetry.prices` is not configured."),
    folded: flag("Some calls of this tenant are counted together with those of others: the figures are too low."),
    running: integer("Calls that run now. Omitted for a tenant."),
    waiting: integer("Calls that wait for a place to run. Omitted for a tenant."),
    approvalsPending: integer("Calls that wait for an approval. Omitted for a tenant."),
    droppedEvents: integer("Events that a sink lost. Omitted for a tenant."),
    openBreakers: texts("Tools whose circuit breaker is open, of those you may see."),
    conflicts: texts(
      "Tools that the shared catalog holds with another definition than this process runs. It is not used.",
    ),
    ensembles: list(STATUS, "Where tools come from, and how each source fares."),
    keeps: object("What can be read of the past.", ["audit", "history"], {
      audit: flag("Whether there is an audit log."),
      history: flag("Whether there is a history."),
    }),
    minutes: list(
      object("One minute.", ["at", "calls", "errors"], {
        at: time("Its start."),
        calls: integer("Calls that ended in it."),
        errors: integer("Those of them that failed."),
        p95Ms: number("95 % ran for less than this, in milliseconds."),
      }),
      "The last hour, oldest first. Omitted for a tenant.",
    ),
  },
);

const PAGE = object("One page.", ["records"], {
  records: list({ anyOf: [RETRIEVAL, CALL] }, "Searches and calls, newest first."),
  next: text("The cursor of the next page. Omitted on the last."),
});

const TRACE = object("What is kept of the trace.", ["traceId", "retrievals", "calls"], {
  traceId: text("The trace."),
  retrievals: list(RETRIEVAL, "Its searches, oldest first."),
  calls: list(CALL, "Its calls, oldest first."),
});

const COSTS = object("The sums.", ["costs"], {
  costs: list(
    object("One sum.", ["name", "calls", "cost"], {
      name: text("The tool, tenant or day."),
      calls: integer("How many calls."),
      cost: number("What they cost together."),
    }),
    "Dearest first; days in order.",
  ),
  currency: text("The currency of the costs: `USD`. Omitted if `telemetry.prices` is not configured."),
});

/** The state of the gateway, and its history of searches and calls. */
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
    query: object("", [], {
      kind: choice(["retrieval", "call"], "Only searches, or only calls."),
      tool: {
        ...text("Only calls of this tool: its id, or a pattern such as `shop.*`."),
        minLength: 1,
        maxLength: 512,
      },
      status: choice(EXECUTION_STATUSES, "Only calls that ended like this."),
      ensemble: text("Only calls of the tools of this ensemble, such as an MCP server."),
      limit: { type: "integer", minimum: 1, maximum: 500, description: "Records on a page. Default 50." },
      cursor: { ...text("`next` of the page before."), maxLength: 1_024 },
    }),
    answers: { 200: { description: "One page.", schema: PAGE } },
    problems: ["CONFIG_INVALID"],
    statusOf: { CONFIG_INVALID: 404 },
    async run({ query: { limit = 50, cursor, ...filter }, principal: { tenant }, signal }, context) {
      const { history } = administrationOf(context);
      if (history === undefined) return noHistory();
      const [at, shown] = fromCursor("history", PLACE, cursor) ?? [];
      const before = at === undefined ? undefined : { at: Number(at), shown: Number(shown) };
      const { records, next } = await history.list({ ...filter, tenant }, { limit, before, signal });
      return { body: { records, ...(next && { next: toCursor("history", `${next.at}:${next.shown}`) }) } };
    },
  }),
  operation("getTrace", "GET /history/{traceId}", {
    summary: "Explain one trace: its searches with every signal, and its calls with every step",
    params: object("", ["traceId"], {
      traceId: { ...text("A trace id, of a result or a record."), examples: ["4bf92f3577b34da6a3ce929d0e0e4736"] },
    }),
    answers: { 200: { description: "What is kept of the trace.", schema: TRACE } },
    problems: ["CONFIG_INVALID"],
    statusOf: { CONFIG_INVALID: 404 },
    async run({ params, principal: { tenant }, signal }, context) {
      const { history } = administrationOf(context);
      if (history === undefined) return noHistory();
      const traceId = params.traceId.toLowerCase();
      const found = await history.trace(traceId, { tenant, signal });
      if (found.retrievals.length + found.calls.length > 0) return { body: found };
      const problem = `Nothing is kept of the trace ${showValue(params.traceId)}.`;
      const fix = "List what is kept with GET /api/v1/history.";
      const details = { field: "traceId", value: params.traceId };
      return { refused: fixable("INPUT_INVALID", problem, fix, details), status: 404 };
    },
  }),
  operation("getCosts", "GET /costs", {
    summary: "Add up what calls cost, by tool, tenant or day",
    description:
      "Only calls of tools that declare a cost count. An operator who belongs to a tenant sees that tenant's.",
    query: object("", [], {
      by: choice(["tool", "tenant", "day"], "What to add up by. Default tool."),
      days: { type: "integer", minimum: 1, maximum: 400, description: "The last days, today included. Default 30." },
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

/** Time and how many records of that time were shown, as in a cursor. */
const PLACE = /^(\d{1,15}(?:\.\d{1,9})?):(\d{1,9})$/;

function noHistory(): RestResponse {
  const problem = "This gateway keeps no history of searches and calls.";
  const fix = "Set state.type to something that outlives the process, or telemetry.history.enabled to true.";
  return { refused: fixable("CONFIG_INVALID", problem, fix, { field: "telemetry.history" }), status: 404 };
}
