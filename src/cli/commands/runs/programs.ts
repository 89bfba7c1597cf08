import { internalsOf, type ToolArsenal } from "../../../arsenal.ts";
import { stateType } from "../../../config/load/chosen-adapters.ts";
import { fixable } from "../../../errors/arsenal-error.ts";
import { harmless } from "../../../errors/show-value.ts";
import type { SavedProgram } from "../../../programs/saved/saved-program.ts";
import { isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";
import { MCP_CONFIG, openArsenal, readSettings, throughToolset, TOOLSET } from "../../arsenal/open-arsenal.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { parseJson, wrongInput } from "../../input.ts";
import { clip, printList } from "../../terminal/style.ts";
import { readArguments } from "../call.ts";
import { readProgram, runProgram, show as showOutcome } from "./run.ts";

export const command: Command = {
  actions: {
    list: { summary: "List the saved programs and the proposed programs" },
    show: { summary: "Show a saved program: its code, inputs and tools", positionals: ["NAME"] },
    save: { summary: "Run a program, and save it as a tool if it works", positionals: ["NAME", "[FILE]"] },
    accept: { summary: "Accept a proposed program as a tool", positionals: ["NAME"] },
    remove: { summary: "Remove a saved program and its tool", positionals: ["NAME"] },
  },
  options: {
    description: { value: "TEXT", description: "For save: what the tool does. Models and the search read it" },
    run: { value: "ID", description: "For save: save the program of this run instead of running a file" },
    inputs: {
      value: "JSON",
      description: "For save: JSON Schema of the arguments. Defaults to the type of the program's input",
    },
    args: { value: "JSON", description: "For save: inputs to run it with, as a JSON object" },
    "args-file": { value: "FILE", description: "For save: a file with the inputs" },
    approve: { description: "For save: approve its calls yourself, unless security.self_approval is never" },
    digest: {
      value: "DIGEST",
      description: "For accept: accept only if the program still has the digest that show printed",
    },
    ...TOOLSET,
    ...MCP_CONFIG,
  },
  examples: [
    "programs list",
    `programs save open_bugs report.ts --description "Counts the open bugs of a project by assignee."`,
    "programs show open_bugs",
    "programs accept open_bugs",
  ],
  async run(input, terminal) {
    const [action, name = ""] = input.positionals;
    if (stateType((await readSettings(input, terminal)).state) === "memory") throw keptInMemory();
    await using arsenal = await openArsenal(input, terminal, {});
    const saved = await internalsOf(arsenal).savedPrograms();
    const { digest } = input.options;
    switch (action) {
      case "save":
        return await save(name, arsenal, input, terminal);
      case "accept":
        return print(await saved.accept(name, { digest }), input, terminal, "is a tool now");
      case "remove":
        await saved.remove(name);
        if (!input.json) terminal.err.write(`Removed programs.${name}.\n`);
        return 0;
      case "show":
        return print(await saved.get(name), input, terminal);
      default: {
        const programs = await saved.list();
        const width = Math.max(20, (terminal.out.columns ?? 120) - 50);
        const rows = programs.map((each) => [
          `programs.${each.name}`,
          each.status,
          each.savedBy,
          clip(each.description, width),
        ]);
        const none = "No saved programs. Save one with: toolarsenal programs save NAME FILE";
        printList(input, terminal, { programs }, rows, programs.length === 0 ? none : "");
        return 0;
      }
    }
  },
};

async function save(name: string, arsenal: ToolArsenal, input: Input, terminal: Terminal): Promise<number> {
  const { description, run: given } = input.options;
  const file = input.positionals[2];
  if ((file === undefined) === (given === undefined))
    throw wrongInput(
      "FILE",
      file,
      '"programs save" needs either a FILE or --run ID.',
      "Name the file of the program, or - for standard input.",
    );
  if (description === undefined)
    throw wrongInput(
      "--description",
      undefined,
      '"programs save" needs --description.',
      "Say in a sentence what the tool does.",
    );
  const inputs = readSchema(input);
  let runId = given ?? "";
  if (file !== undefined) {
    const isGiven = input.options["args"] !== undefined || input.options["args-file"] !== undefined;
    const program = {
      code: await readProgram(file, terminal),
      signal: terminal.signal,
      ...throughToolset(input, arsenal),
      ...(isGiven && { input: await readArguments(input, terminal) }),
    };
    const result = await runProgram(arsenal, program, input);
    if (result.status !== "success") {
      showOutcome(result, input, terminal);
      terminal.err.write("Nothing was saved: the program has to work first.\n");
      return 1;
    }
    ({ runId } = result);
  }
  const saved = await internalsOf(arsenal).savedPrograms();
  const program = await saved.save({ runId, name, description, ...(inputs && { inputs }) });
  return print(program, input, terminal, program.status === "accepted" ? "is a tool now" : "waits to be accepted");
}

function readSchema({ options: { inputs } }: Input): JsonSchema | undefined {
  if (inputs === undefined) return undefined;
  const refuse = (problem: string): never => {
    throw wrongInput("--inputs", inputs, `--inputs: ${problem}.`, "Give a JSON Schema of an object.");
  };
  const value = parseJson(inputs, (reason) => refuse(`it is not JSON: ${reason}`));
  return isPlainObject(value) ? (value as JsonSchema) : refuse("it is not a JSON object");
}

function print(program: SavedProgram, { json }: Input, { out, err }: Terminal, news?: string): number {
  if (json) {
    out.write(`${JSON.stringify(program, undefined, 2)}\n`);
    return 0;
  }
  if (news !== undefined) {
    err.write(`programs.${program.name} ${news}.\n`);
    return 0;
  }
  const { name, status, description, savedBy, acceptedBy, savedAt, tenant, digest, inputs, tools, code } = program;
  const lines = [
    `programs.${name}  (${status})`,
    description,
    "",
    `Saved by ${savedBy}${tenant === undefined ? "" : ` of ${tenant}`} at ${new Date(savedAt).toISOString()}${acceptedBy === undefined ? "" : `, accepted by ${acceptedBy}`}.`,
    `Digest: ${digest}`,
    `Inputs: ${JSON.stringify(inputs)}`,
    `Calls: ${tools.length === 0 ? "no tools" : tools.join(", ")}`,
    "",
    ...code.split("\n").map((line, n) => `${String(n + 1).padStart(4)}  ${line}`),
  ];
  out.write(`${lines.map((line) => harmless(line)).join("\n")}\n`);
  return 0;
}

function keptInMemory(): Error {
  const fix = "Set state.file to a file, such as ./.toolarsenal/state.sqlite, or state.type to another store.";
  return fixable("CONFIG_INVALID", "Saved programs are kept in memory, so they would end with this command.", fix, {
    field: "state.file",
  });
}
