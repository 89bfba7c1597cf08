import type { NamedSource } from "../../../adapters/sources/named-source.ts";
import { basePathOf } from "../../http/allowed-callers.ts";
import { TOOL_SOURCES } from "../../../tool/tool.ts";
import { statusFor } from "../../administration.ts";
import { answer, type Operation, operationsOf } from "../operation.ts";
import { ANY_SOURCE, SOURCES } from "../schemas/ensemble.ts";
import { anything, choice, entry, flag, list, openEntry, string, time, whole } from "../../../tool/shape/shape.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Ensembles", role: "operator", tenants: "none" });

const params = entry("", { name: string("The ensemble's name.") }, ["name"]);
const problems = ["ENSEMBLE_NOT_FOUND"] as const;

const LINE = entry(
  "One line of a server's log.",
  {
    id: whole("The line's id. It increases with every line."),
    at: time("The time of the line."),
    from: choice(
      "The origin of the line: standard error of the program, a log message of the server, or a note by the gateway.",
      ["stderr", "mcp", "gateway"],
    ),
    level: string("The severity that the server states."),
    text: string("The line, without secrets and terminal escapes."),
  },
  ["id", "at", "from", "text"],
);

export const STATUS = openEntry(
  "",
  {
    name: { type: "string" },
    source: { enum: TOOL_SOURCES, description: "The kind of source of the ensemble's tools." },
    state: { enum: ["connecting", "connected", "failed", "disconnected"] },
    problem: string("Why the ensemble is not connected, or why its tools could not be listed."),
    tools: whole("The number of registered tools."),
    persisted: flag("False if the ensemble was added over this API. It is then lost after a restart."),
  },
  ["name", "source", "state", "tools", "persisted"],
);

const ADDED = openEntry(
  "",
  {
    name: { type: "string" },
    tools: whole("The number of added tools."),
    persisted: {
      const: false,
      description: "The ensemble lasts until the process ends. To keep it, write it into the configuration.",
    },
  },
  ["name", "tools", "persisted"],
);

function changing(
  action: "connect" | "disconnect" | "reload" | "restart",
  about: Pick<Operation, "summary" | "description">,
): Operation {
  return operation(`${action}Ensemble`, `POST /ensembles/{name}/${action}`, {
    ...about,
    params,
    answers: { 200: { description: "The ensemble's state after the operation.", schema: STATUS } },
    problems,
    targets: ({ params: { name } }) => [name],
    async run({ params: { name }, principal, signal }, context) {
      return { body: statusFor(principal, await administrationOf(context).ensembles[action](name, { signal })) };
    },
  });
}

/** Operations on ensembles: servers, documents and other sources of tools. */
export const ensembleOperations: readonly Operation[] = [
  operation("listEnsembles", "GET /ensembles", {
    summary: "List the ensembles and their state",
    description: "An operator of a tenant sees the ensembles whose tools the tenant may use.",
    tenants: "own",
    answers: {
      200: {
        description: "Connected and connecting ensembles in the order in which they were added, then the others.",
        schema: openEntry("", { ensembles: list("", STATUS) }, ["ensembles"]),
      },
    },
    async run({ principal }, context) {
      const { ensembles, seenEnsembles } = administrationOf(context);
      const isSeen = await seenEnsembles(principal);
      const seen = ensembles.list().filter(({ name }) => isSeen(name));
      return { body: { ensembles: seen.map((each) => statusFor(principal, each)) } };
    },
  }),
  operation("getEnsemble", "GET /ensembles/{name}", {
    summary: "Get the state of one ensemble",
    tenants: "own",
    params,
    answers: { 200: { description: "The ensemble's state.", schema: STATUS } },
    problems,
    async run({ params: { name }, principal }, context) {
      const { ensembles, seenEnsembles } = administrationOf(context);
      return { body: statusFor(principal, ensembles.get(name, await seenEnsembles(principal))) };
    },
  }),
  operation("getEnsembleLog", "GET /ensembles/{name}/log", {
    summary: "Read the latest log lines of an MCP server",
    description:
      "The latest 200 lines, as recorded by the process that responds: standard error of the server's program, its MCP log messages, and when it connected or failed. Also available for a server that could not be added.",
    params,
    query: entry("", { after: whole("Only lines with a greater id.", 0) }),
    answers: { 200: answer("The lines, oldest first.", { lines: list("Oldest first.", LINE) }, ["lines"]) },
    problems,
    async run({ params: { name }, query: { after } }, context) {
      return { body: { lines: administrationOf(context).ensembles.log(name, { after }) } };
    },
  }),
  changing("connect", { summary: "Connect an ensemble that failed or was disconnected" }),
  changing("disconnect", { summary: "Close an ensemble's connection and remove its tools" }),
  changing("reload", { summary: "List an ensemble's tools again, from its files or its server" }),
  changing("restart", {
    summary: "Disconnect an ensemble and connect it again",
    description: "Restarts the program of a server. Running calls fail. The tools return with the same ids.",
  }),
  operation("listSourceTypes", "GET /source-types", {
    summary: "List the types of sources that can be added, and the settings of each",
    answers: {
      200: answer("The types.", { types: anything("The JSON Schema of the settings, by type.") }, ["types"]),
    },
    async run() {
      return { body: { types: SOURCES } };
    },
  }),
  operation("addEnsemble", "POST /ensembles", {
    summary: "Add a source of tools, such as an MCP server, an OpenAPI document or an A2A agent",
    description: "The source lasts until the process ends.",
    body: ANY_SOURCE,
    examples: {
      document: {
        type: "openapi",
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
      server: { type: "mcp", name: "files", url: "http://127.0.0.1:9000/mcp" },
    },
    // The body may contain a whole document.
    maxBytes: 4 * 1024 * 1024,
    answers: { 201: { description: "The ensemble was added, and its tools are registered.", schema: ADDED } },
    problems: ["SOURCE_UNAVAILABLE", "CONFIG_INVALID", "CLOSED"],
    statusOf: { SOURCE_UNAVAILABLE: 422 },
    // Callers without the role are refused before their settings are read.
    targets({ body }) {
      const { type, name = type } = (body ?? {}) as Readonly<Record<string, string>>;
      return name === undefined ? [] : [name];
    },
    async run({ body, principal, signal }, context) {
      const added = await administrationOf(context).ensembles.add(body as unknown as NamedSource, principal, {
        signal,
      });
      const { name, tools } = added;
      const location = `${basePathOf(context.address())}/api/v1/ensembles/${encodeURIComponent(name)}`;
      return { status: 201, body: { name, tools, persisted: false }, headers: { location } };
    },
  }),
  operation("removeEnsemble", "DELETE /ensembles/{name}", {
    summary: "Disconnect an ensemble and remove it",
    params,
    answers: {
      204: {
        description:
          "The ensemble was removed. If it is in the configuration, it is connected again at the next start.",
      },
    },
    problems,
    targets: ({ params: { name } }) => [name],
    async run({ params: { name } }, context) {
      await administrationOf(context).ensembles.remove(name);
      return { status: 204 };
    },
  }),
];
