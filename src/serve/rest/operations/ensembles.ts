import type { A2aAgentSettings } from "../../../adapters/sources/a2a/settings.ts";
import type { McpServerSettings } from "../../../adapters/sources/mcp/settings.ts";
import type { OpenApiSettings } from "../../../adapters/sources/openapi/settings.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { TOOL_SOURCES } from "../../../tool/tool.ts";
import { type Answer, type Operation, operationsOf } from "../operation.ts";
import { A2A_AGENT, MCP_SERVER, OPENAPI } from "../schemas/ensemble.ts";
import { choice, integer, list, object, text, time } from "../schemas/write.ts";
import { statusFor } from "../../administration.ts";
import { administrationOf } from "./administered.ts";

const params = {
  type: "object",
  properties: { name: { type: "string", description: "The ensemble's name." } },
} as const;

const LINE = object("One line.", ["id", "at", "from", "text"], {
  id: integer("Grows from line to line."),
  at: time("When it was written."),
  from: choice(
    ["stderr", "mcp", "gateway"],
    "Standard error of a program, a log message of the server, or what the gateway saw of it.",
  ),
  level: text("How serious it is, as the server says."),
  text: text("The line, without secrets and terminal escapes."),
});

export const STATUS = {
  type: "object",
  properties: {
    name: { type: "string" },
    source: { enum: TOOL_SOURCES, description: "Where its tools come from." },
    state: { enum: ["connecting", "connected", "failed", "disconnected"] },
    problem: { type: "string", description: "Why it is not connected, or could not be read the last time." },
    tools: { type: "integer", description: "How many tools it has registered." },
    persisted: { type: "boolean", description: "False if it was added over this API: a restart forgets it." },
  },
  required: ["name", "source", "state", "tools", "persisted"],
} satisfies JsonSchema;

const ADDED = {
  type: "object",
  properties: {
    name: { type: "string" },
    tools: { type: "integer", description: "How many tools came." },
    persisted: {
      const: false,
      description: "It lasts until the process ends. Write it into the configuration to keep it.",
    },
  },
  required: ["name", "tools", "persisted"],
} satisfies JsonSchema;

const operation = operationsOf({ tag: "Ensembles", role: "operator" });
const one = { 200: { description: "What became of it.", schema: STATUS } };
const problems = ["ENSEMBLE_NOT_FOUND"] as const;

const ADD_PROBLEMS = ["SOURCE_UNAVAILABLE", "CONFIG_INVALID", "CLOSED"] as const;

/** Servers, documents and other sources whose tools are used: their state, connecting, disconnecting, adding and removing them. */
export const ensembleOperations: readonly Operation[] = [
  operation("listEnsembles", "GET /ensembles", {
    summary: "List the ensembles and their state",
    answers: {
      200: {
        description: "Those that are connected or connecting in the order they were added, then the others.",
        schema: {
          type: "object",
          properties: { ensembles: { type: "array", items: STATUS } },
          required: ["ensembles"],
        },
      },
    },
    async run({ principal }, context) {
      const all = administrationOf(context).ensembles.list();
      return { body: { ensembles: all.map((each) => statusFor(principal, each)) } };
    },
  }),
  operation("getEnsemble", "GET /ensembles/{name}", {
    summary: "Get the state of one ensemble",
    params,
    answers: { 200: { description: "Its state.", schema: STATUS } },
    problems,
    async run({ params: { name = "" }, principal }, context) {
      return { body: statusFor(principal, administrationOf(context).ensembles.get(name)) };
    },
  }),
  operation("getEnsembleLog", "GET /ensembles/{name}/log", {
    summary: "Read what an MCP server wrote lately",
    description:
      "The latest 200 lines of the process that answers: standard error of the server's program, its MCP log messages, and when it connected or failed. Also has them for a server that could not be added. For operators who belong to no tenant.",
    params,
    query: object("", [], { after: { ...integer("Only lines with a greater id."), minimum: 0 } }),
    answers: {
      200: {
        description: "The lines, newest last.",
        schema: object("", ["lines"], { lines: list(LINE, "Newest last.") }),
      },
    },
    problems,
    async run({ params: { name = "" }, query: { after }, principal: { tenant } }, context) {
      if (tenant !== undefined) throw otherTenants();
      return { body: { lines: administrationOf(context).ensembles.log(name, { after }) } };
    },
  }),
  operation("connectEnsemble", "POST /ensembles/{name}/connect", {
    summary: "Connect an ensemble that failed or was disconnected",
    params,
    answers: one,
    problems,
    targets: ofName,
    async run({ params: { name = "" }, principal, signal }, context) {
      return { body: statusFor(principal, await administrationOf(context).ensembles.connect(name, { signal })) };
    },
  }),
  operation("disconnectEnsemble", "POST /ensembles/{name}/disconnect", {
    summary: "Close an ensemble's connection and take its tools away",
    params,
    answers: one,
    problems,
    targets: ofName,
    async run({ params: { name = "" }, principal }, context) {
      return { body: statusFor(principal, await administrationOf(context).ensembles.disconnect(name)) };
    },
  }),
  operation("reloadEnsemble", "POST /ensembles/{name}/reload", {
    summary: "List an ensemble's tools again, from its files or its server",
    params,
    answers: one,
    problems,
    targets: ofName,
    async run({ params: { name = "" }, principal, signal }, context) {
      return { body: statusFor(principal, await administrationOf(context).ensembles.reload(name, { signal })) };
    },
  }),
  operation("restartEnsemble", "POST /ensembles/{name}/restart", {
    summary: "Disconnect an ensemble and connect it again",
    description: "Starts the program of a server again. Calls under way fail; the tools come back with the same ids.",
    params,
    answers: one,
    problems,
    targets: ofName,
    async run({ params: { name = "" }, principal, signal }, context) {
      return { body: statusFor(principal, await administrationOf(context).ensembles.restart(name, { signal })) };
    },
  }),
  operation("addMcpServer", "POST /ensembles/mcp", {
    summary: "Connect an MCP server",
    description: "It lasts until the process ends.",
    body: MCP_SERVER,
    examples: { remote: { name: "files", transport: { kind: "http", url: "http://127.0.0.1:9000/mcp" } } },
    answers: { 201: { description: "Its tools are registered.", schema: ADDED } },
    problems: ADD_PROBLEMS,
    statusOf: { SOURCE_UNAVAILABLE: 422 },
    targets: ofSettings,
    async run({ body, principal, signal }, context) {
      const settings = body as unknown as McpServerSettings;
      const tools = await administrationOf(context).ensembles.addMcpServer(settings, principal, { signal });
      return added(settings.name, tools);
    },
  }),
  operation("addOpenApi", "POST /ensembles/openapi", {
    summary: "Use the operations of an OpenAPI document as tools",
    description: "It lasts until the process ends.",
    body: OPENAPI,
    examples: {
      inline: {
        name: "weather",
        document: {
          openapi: "3.1.0",
          info: { title: "Weather", version: "1.0.0" },
          paths: {
            "/now": { get: { operationId: "weatherNow", responses: { 200: { description: "The weather." } } } },
          },
        },
        server: "https://weather.example.com",
      },
    },
    maxBytes: 4 * 1024 * 1024,
    answers: { 201: { description: "Its tools are registered.", schema: ADDED } },
    problems: ADD_PROBLEMS,
    statusOf: { SOURCE_UNAVAILABLE: 422 },
    targets: ofSettings,
    async run({ body, principal, signal }, context) {
      const settings = body as unknown as OpenApiSettings;
      return added(
        settings.name,
        await administrationOf(context).ensembles.addOpenApi(settings, principal, { signal }),
      );
    },
  }),
  operation("addA2aAgent", "POST /ensembles/a2a", {
    summary: "Use the skills of another agent as tools",
    description: "It lasts until the process ends.",
    body: A2A_AGENT,
    examples: { remote: { name: "planner", url: "http://127.0.0.1:9001" } },
    answers: { 201: { description: "Its tools are registered.", schema: ADDED } },
    problems: ADD_PROBLEMS,
    statusOf: { SOURCE_UNAVAILABLE: 422 },
    targets: ofSettings,
    async run({ body, principal, signal }, context) {
      const settings = body as unknown as A2aAgentSettings;
      return added(
        settings.name,
        await administrationOf(context).ensembles.addA2aAgent(settings, principal, { signal }),
      );
    },
  }),
  operation("removeEnsemble", "DELETE /ensembles/{name}", {
    summary: "Disconnect an ensemble and forget it",
    params,
    answers: { 204: { description: "It is gone. If the configuration names it, it comes back with the next start." } },
    problems,
    targets: ofName,
    async run({ params: { name = "" } }, context) {
      await administrationOf(context).ensembles.remove(name);
      return { status: 204 };
    },
  }),
];

/** A server writes about every caller's calls. */
function otherTenants(): ArsenalError {
  const fix = "Ask an operator of the whole gateway.";
  const message = `Operators of one tenant cannot read the log of a server: it may be about the calls of other tenants. ${fix}`;
  return new ArsenalError("PERMISSION_DENIED", message, { fix });
}

function ofName({ params: { name = "" } }: { readonly params: { readonly name?: string } }): readonly string[] {
  return [name];
}

/** Callers without the role are refused before their settings are read. */
function ofSettings({ body }: { readonly body: unknown }): readonly string[] {
  return body === undefined ? [] : [(body as { readonly name: string }).name];
}

function added(name: string, tools: number): Answer {
  const location = `/api/v1/ensembles/${encodeURIComponent(name)}`;
  return { status: 201, body: { name, tools, persisted: false }, headers: { location } };
}
