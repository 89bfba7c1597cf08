import { answer, type Operation, operationsOf } from "../operation.ts";
import { SAVE_PROGRAM } from "../../../programs/saved/saved-program.ts";
import { choice, entry, list, schema, string, strings, time } from "../../../tool/shape/shape.ts";

const operation = operationsOf({ tag: "Programs" });

const SAVED = entry(
  "A program that is a tool, or is proposed as one.",
  {
    name: string("Its name. The tool's id is `programs.NAME`."),
    status: choice("`proposed`: it becomes a tool once an operator accepts it.", ["proposed", "accepted"]),
    description: string("What it does."),
    code: string("The program."),
    digest: string("SHA-256 of everything that is accepted: code, description, inputs, result and tools."),
    inputs: schema<object>({ description: "JSON Schema of its arguments.", type: "object" }),
    returns: schema<object>({ description: "JSON Schema of its result.", type: "object" }),
    tools: strings("Ids of the tools that it may call."),
    runId: string("The run that it was saved from."),
    savedBy: string("Who saved it."),
    tenant: string("The tenant that it belongs to. Omitted if every tenant has it."),
    savedAt: time("When it was saved."),
    acceptedBy: string("Who accepted it."),
  },
  ["name", "status", "description", "code", "digest", "inputs", "tools", "runId", "savedBy", "savedAt"],
);

const params = entry("", { name: string("Its name.") }, ["name"]);

export const savedProgramOperations: readonly Operation[] = [
  operation("saveProgram", "POST /programs/saved", {
    summary: "Save a program that worked as a tool",
    description:
      "Any caller can save its own runs, and an operator those of its tenant. An operator's program is a tool at once. Another caller's is proposed: an operator has to accept it.",
    body: SAVE_PROGRAM,
    examples: {
      report: {
        runId: "0mrwq1k2a5c0ffee",
        name: "open_bugs",
        description: "Counts the open bugs of a project by assignee.",
      },
    },
    answers: {
      201: { description: "It is a tool.", schema: SAVED },
      202: { description: "It waits for an operator.", schema: SAVED },
    },
    problems: ["TOOL_INVALID", "TOOL_OWNED", "AUDIT_FAILED"],
    async run({ body, principal }, { arsenal }) {
      const saved = await (await arsenal.savedPrograms()).save(body, { principal });
      return { status: saved.status === "accepted" ? 201 : 202, body: saved };
    },
  }),
  operation("listSavedPrograms", "GET /programs/saved", {
    summary: "List the saved programs",
    description: "Your own, or those of your tenant if you are an operator.",
    answers: { 200: answer("By name.", { programs: list("By name.", SAVED) }, ["programs"]) },
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
    body: entry("", { digest: string("Accept it only if this is still its digest.") }),
    answers: { 200: { description: "It is a tool.", schema: SAVED } },
    problems: ["TOOL_NOT_FOUND", "AUDIT_FAILED"],
    run: async ({ params: { name }, body: { digest }, principal }, { arsenal }) => ({
      body: await (await arsenal.savedPrograms()).accept(name, { principal, digest }),
    }),
  }),
  operation("removeSavedProgram", "DELETE /programs/saved/{name}", {
    summary: "Remove a saved program and its tool",
    description: "Needs an operator, unless it is your own proposal.",
    params,
    answers: { 204: { description: "It was removed." } },
    problems: ["TOOL_NOT_FOUND", "PERMISSION_DENIED", "AUDIT_FAILED"],
    async run({ params: { name }, principal }, { arsenal }) {
      await (await arsenal.savedPrograms()).remove(name, { principal });
      return { status: 204 };
    },
  }),
];
