import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { RegisteredBatch } from "../../../register/register-batch.ts";
import type { ToolDraft } from "../../../tool/draft.ts";
import { DEFAULT_NAMESPACE } from "../../../tool/limits.ts";
import { basePathOf } from "../../http/allowed-callers.ts";
import { TOOL_SOURCES, type Tool } from "../../../tool/tool.ts";
import { type Operation, operationsOf } from "../operation.ts";
import { TOLD_ERROR } from "../schemas/call.ts";
import { DIALECT } from "../schemas/search.ts";
import { HEALTH, ID, TOOL, TOOL_DRAFT } from "../schemas/tool.ts";
import { choice, entry, flag, list, refined, schema, string, strings, whole } from "../../../tool/shape/shape.ts";
import { fromCursor, toCursor } from "./cursor.ts";

const operation = operationsOf({ tag: "Tools" });

const params = entry("", { id: { ...ID, examples: ["billing.get_invoice"] } }, ["id"]);
const POSTED = entry("", { id: { ...ID, examples: ["billing.void_invoice"] } }, ["id"]);
const toolset = string("Limits the request to the tools of this toolset.");

const includeRefused = flag("Whether an operator who belongs to no tenant also gets tools that the policy hides.");

const REGISTERED = entry(
  "The result for each tool.",
  {
    registered: list("Tools that were registered.", TOOL),
    rejected: list(
      "Tools that were refused, and why.",
      entry(
        "A tool that was not registered.",
        {
          index: whole("The tool's index in the request, from 0."),
          name: string("The tool's name, if it has one."),
          error: TOLD_ERROR,
        },
        ["index", "name", "error"],
      ),
    ),
  },
  ["registered", "rejected"],
);

const EXAMPLE = {
  name: "void_invoice",
  namespace: "billing",
  description: "Voids an invoice that was sent by mistake.",
  parameters: { type: "object", properties: { invoiceId: { type: "string" } }, required: ["invoiceId"] },
  tags: ["invoice"],
};

const PAGE = entry(
  "A page of tools.",
  {
    tools: list("Ordered by id.", TOOL),
    next: string("The cursor of the next page. Omitted on the last page."),
  },
  ["tools"],
);

/** The common parts of the two operations that register many tools. */
const registering = {
  role: "operator",
  maxBytes: 16 * 1024 * 1024,
  answers: { 200: { description: "The result for each tool.", schema: REGISTERED } },
  targets: (_asked: unknown, body: unknown) =>
    (body as Pick<RegisteredBatch, "registered"> | undefined)?.registered.map(({ id }) => id) ?? [],
} as const;

export const toolOperations: readonly Operation[] = [
  operation("listTools", "GET /tools", {
    summary: "List the tools that you may call, ordered by id",
    description:
      "With `includeRefused=true`, the list also has tools that you may not call, each with `refused`. An operator who belongs to no tenant then gets every tool. Other callers get the tools that the policy lets them see.",
    needsTools: true,
    query: entry("", {
      namespace: string("Only tools of this namespace."),
      source: choice("Only tools from this source.", TOOL_SOURCES),
      tag: strings("Only tools with one of these tags, separated by commas."),
      toolset,
      includeRefused: flag("Also lists tools that you may not call, each with `refused`."),
      limit: whole("Maximum number of tools on a page.", 1, 1000, 100),
      cursor: string("`next` of the previous page."),
    }),
    answers: { 200: { description: "A page of tools.", schema: PAGE } },
    problems: ["TOOLSET_NOT_FOUND"],
    async run({ query: { limit = 100, cursor, tag, ...by }, principal }, { arsenal }) {
      const [id] = fromCursor("after", /^(.*)$/s, cursor) ?? [];
      const after = id === undefined ? {} : { after: id };
      const filter = tag === undefined ? {} : { filter: { tags: tag.filter((each) => each !== "") } };
      const found = await arsenal.listTools({ ...by, ...after, ...filter, limit: limit + 1, principal });
      const tools = found.slice(0, limit);
      const last = tools.at(-1);
      return { body: { tools, ...(found.length > limit && last && { next: toCursor("after", last.id) }) } };
    },
  }),
  operation("getTool", "GET /tools/{id}", {
    summary: "Get one tool",
    description: "The tool has `refused` if you may not call it.",
    needsTools: true,
    params,
    query: entry("", { toolset, includeRefused }),
    answers: { 200: { description: "The tool.", schema: TOOL, headers: { ETag: "The tool's content hash." } } },
    problems: ["TOOL_NOT_FOUND", "TOOLSET_NOT_FOUND"],
    async run({ params: { id }, query, principal }, { arsenal }) {
      const tool = await arsenal.getTool(...split(id), { ...query, principal });
      if (tool === undefined) throw notFound(id);
      // The reason of a refusal can change while the tool stays the same.
      return { body: tool, ...(tool.refused === undefined && { headers: { etag: `"${tool.contentHash}"` } }) };
    },
  }),
  operation("registerTool", "POST /tools", {
    summary: "Register a tool",
    description:
      "Adds a definition. Searches find the tool. Calls run if an executor supports its source. The definition replaces a tool with the same id that was added over this API, but not a tool of an ensemble or a module. A tool that an operator of a tenant registers belongs to that tenant, and replaces only that tenant's tools.",
    role: "operator",
    body: TOOL_DRAFT,
    examples: { tool: EXAMPLE },
    answers: {
      201: {
        description: "The tool as it was registered.",
        schema: TOOL,
        headers: { Location: "The URL of the tool." },
      },
    },
    problems: ["TOOL_INVALID", "TOOL_OWNED"],
    targets: (asked, body) => [(body as Tool | undefined)?.id ?? asked.body?.name ?? []].flat(),
    async run({ body, principal }, { arsenal, address }) {
      const tool = await arsenal.addTool(body, undefined, { principal });
      const location = `${basePathOf(address())}/api/v1/tools/${encodeURIComponent(tool.id)}`;
      return { status: 201, body: tool, headers: { location } };
    },
  }),
  operation("registerTools", "POST /tools/batch", {
    summary: "Register many tools",
    description:
      "Invalid tools, and tools that an ensemble or a module owns, are reported. The other tools are registered.",
    ...registering,
    body: entry(
      "Tools to register.",
      {
        tools: refined(list("Tool drafts, at most 5,000.", schema<ToolDraft>({ type: "object" })), { maxItems: 5_000 }),
      },
      ["tools"],
    ),
    examples: { tools: { tools: [EXAMPLE] } },
    async run({ body: { tools }, principal }, { arsenal }) {
      const batch = tools.map((tool) => ({ tool: tool as unknown as ToolDraft }));
      return { body: toBody(await arsenal.addTools(batch, { principal })) };
    },
  }),
  operation("importTools", "POST /tools/import", {
    summary: "Register tools written for another API",
    ...registering,
    body: entry(
      "Tools in the format of a dialect.",
      {
        format: DIALECT,
        tools: refined(list("Definitions in that dialect, at most 5,000.", {}), { maxItems: 5_000 }),
        namespace: string("The namespace of the imported tools. Defaults to the name of the dialect."),
      },
      ["format", "tools"],
    ),
    examples: {
      openai: {
        format: "openai",
        namespace: "billing",
        tools: [{ type: "function", function: { name: "list_invoices", description: "Lists a customer's invoices." } }],
      },
    },
    problems: ["QUERY_INVALID", "TOOL_INVALID"],
    async run({ body: { format, tools, namespace }, principal }, { arsenal }) {
      const options = namespace === undefined ? {} : { namespace };
      return { body: toBody(await arsenal.importTools(format, tools, options, { principal })) };
    },
  }),
  operation("deleteTool", "DELETE /tools/{id}", {
    summary: "Delete a tool",
    description: "Tools of an ensemble or a module cannot be deleted. Remove the ensemble, or change the code.",
    role: "operator",
    params: POSTED,
    answers: { 204: { description: "The tool is deleted." } },
    problems: ["TOOL_NOT_FOUND", "TOOL_OWNED"],
    targets: ({ params: { id } }) => [id],
    async run({ params: { id }, principal }, { arsenal }) {
      if (!(await arsenal.deleteTool(...split(id), { principal }))) throw notFound(id);
      return { status: 204 };
    },
  }),
  operation("getToolHealth", "GET /tools/{id}/health", {
    summary: "Show the health of a tool",
    needsTools: true,
    params,
    query: entry("", { includeRefused }),
    answers: { 200: { description: "The tool's health since the gateway started.", schema: HEALTH } },
    problems: ["TOOL_NOT_FOUND", "TOOLSET_NOT_FOUND"],
    async run({ params: { id }, query, principal }, { arsenal }) {
      const tool = await arsenal.getTool(...split(id), { ...query, principal });
      if (tool === undefined) throw notFound(id);
      return { body: arsenal.health(tool.id) };
    },
  }),
];

/** Splits an id at its last dot: a namespace may contain dots, a name does not. */
function split(id: string): [name: string, namespace: string] {
  const dot = id.lastIndexOf(".");
  return [id.slice(dot + 1), dot === -1 ? DEFAULT_NAMESPACE : id.slice(0, dot)];
}

function notFound(id: string): ArsenalError {
  const fix = "List the tools with GET /api/v1/tools.";
  return fixable("TOOL_NOT_FOUND", `There is no tool "${id.slice(0, 200)}".`, fix, { field: "id", value: id });
}

function toBody({ registered, rejected }: RegisteredBatch): {
  readonly registered: readonly Tool[];
  readonly rejected: readonly object[];
} {
  const errors = rejected.map(({ index, name, error: { code, message, details } }) => {
    const { field, value, fix, issues } = details;
    return { index, name, error: { code, message, field, value, fix, issues } };
  });
  return { registered, rejected: errors };
}
