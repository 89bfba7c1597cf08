import { answer, type Operation, operationsOf } from "../operation.ts";
import { SAVE_PROGRAM } from "../../../programs/saved/saved-program.ts";
import { choice, entry, list, schema, string, strings, time } from "../../../tool/shape/shape.ts";

const operation = operationsOf({ tag: "Programs" });

const SAVED = entry(
  "A saved program: a tool, or a proposal for a tool.",
  {
    name: string("The program's name. The tool's id is `programs.NAME`."),
    status: choice("The status. A `proposed` program becomes a tool when an operator accepts it.", [
      "proposed",
      "accepted",
    ]),
    description: string("The program's description."),
    code: string("The source code."),
    digest: string("SHA-256 of everything that an operator accepts: code, description, inputs, result and tools."),
    inputs: schema<object>({ description: "JSON Schema of the arguments.", type: "object" }),
    returns: schema<object>({ description: "JSON Schema of the result.", type: "object" }),
    tools: strings("Ids of the tools that the program may call."),
    runId: string("The id of the run from which the program was saved."),
    savedBy: string("The caller who saved the program."),
    tenant: string("The tenant that owns the program. Omitted if it belongs to all tenants."),
    savedAt: time("When the program was saved."),
    acceptedBy: string("The operator who accepted the program."),
  },
  ["name", "status", "description", "code", "digest", "inputs", "tools", "runId", "savedBy", "savedAt"],
);

const params = entry("", { name: string("The program's name.") }, ["name"]);

export const savedProgramOperations: readonly Operation[] = [
  operation("saveProgram", "POST /programs/saved", {
    summary: "Save a program that worked as a tool",
    description:
      "A caller can save its own runs. An operator can also save runs of its tenant. A program that an operator saves becomes a tool immediately. A program that another caller saves is a proposal until an operator accepts it.",
    body: SAVE_PROGRAM,
    examples: {
      report: {
        runId: "0mrwq1k2a5c0ffee",
        name: "open_bugs",
        description: "Counts the open bugs of a project by assignee.",
      },
    },
    answers: {
      201: { description: "The program is a tool.", schema: SAVED },
      202: { description: "The program is proposed. An operator must accept it.", schema: SAVED },
    },
    problems: ["TOOL_INVALID", "TOOL_OWNED", "AUDIT_FAILED"],
    async run({ body, principal }, { arsenal }) {
      const saved = await (await arsenal.savedPrograms()).save(body, { principal });
      return { status: saved.status === "accepted" ? 201 : 202, body: saved };
    },
  }),
  operation("listSavedPrograms", "GET /programs/saved", {
    summary: "List the saved programs",
    description: "Lists your own programs, or the programs of your tenant if you are an operator.",
    answers: {
      200: answer("The programs, ordered by name.", { programs: list("Ordered by name.", SAVED) }, ["programs"]),
    },
    run: async ({ principal }, { arsenal }) => ({
      body: { programs: await (await arsenal.savedPrograms()).list({ principal }) },
    }),
  }),
  operation("getSavedProgram", "GET /programs/saved/{name}", {
    summary: "Get a saved program with its code",
    params,
    answers: { 200: { description: "The program.", schema: SAVED } },
    problems: ["TOOL_NOT_FOUND"],
    run: async ({ params: { name }, principal }, { arsenal }) => ({
      body: await (await arsenal.savedPrograms()).get(name, { principal }),
    }),
  }),
  operation("acceptProgram", "POST /programs/saved/{name}/accept", {
    summary: "Accept a proposed program as a tool",
    role: "operator",
    params,
    body: entry("", { digest: string("The expected digest. If the program has changed since, it is not accepted.") }),
    answers: { 200: { description: "The program is a tool.", schema: SAVED } },
    problems: ["TOOL_NOT_FOUND", "AUDIT_FAILED"],
    run: async ({ params: { name }, body: { digest }, principal }, { arsenal }) => ({
      body: await (await arsenal.savedPrograms()).accept(name, { principal, digest }),
    }),
  }),
  operation("removeSavedProgram", "DELETE /programs/saved/{name}", {
    summary: "Remove a saved program and its tool",
    description: "Requires the role operator, unless the program is your own proposal.",
    params,
    answers: { 204: { description: "The program was removed." } },
    problems: ["TOOL_NOT_FOUND", "PERMISSION_DENIED", "AUDIT_FAILED"],
    async run({ params: { name }, principal }, { arsenal }) {
      await (await arsenal.savedPrograms()).remove(name, { principal });
      return { status: 204 };
    },
  }),
];
