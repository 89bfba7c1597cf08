import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/load/load-config.ts";
import {
  type BatchCall,
  isArsenalError,
  ToolArsenal,
  type ToolCall,
  type ToolDraft,
  type ToolQuery,
} from "../../src/index.ts";
import { runInMemory } from "./terminal.ts";

/** What went wrong, as a user meets it: thrown, or in a result. */
interface Problem {
  readonly code: string;
  readonly message: string;
  readonly field?: string | undefined;
  readonly value?: unknown;
  readonly fix?: string | undefined;
  readonly issues?: readonly unknown[] | undefined;
}

/** What was given, the code expected, the field that must be named, and the value as it must be shown. */
type Row<Given> = readonly [what: string, given: Given, code: string, field: string, value: string];

let folder: string;
let arsenal: ToolArsenal;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-"));
  arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  await arsenal.addTool(
    {
      ...good,
      name: "add",
      description: "Adds two numbers.",
      parameters: {
        type: "object",
        properties: { a: { type: "number" }, unit: { enum: ["m", "km"] } },
        required: ["a"],
        additionalProperties: false,
      },
    },
    ({ a }) => a,
  );
});
afterAll(async () => {
  await arsenal.close();
  await rm(folder, { recursive: true });
});

const good: ToolDraft = {
  name: "look_around",
  description: "Looks around and says what it sees.",
  parameters: { type: "object" },
};

/** The one error that comes out of this. */
async function problemOf(use: () => unknown): Promise<Problem> {
  try {
    await use();
  } catch (error) {
    if (!isArsenalError(error)) throw error;
    return { code: error.code, message: error.message, ...error.details };
  }
  throw new Error("It was accepted");
}

function expectClear(problem: Problem, code: string, field: string, value: string): void {
  expect(problem.code).toBe(code);
  expect(problem.field).toBe(field);
  expect(problem.message).toContain(field);
  expect(problem.message).toContain(value);
  expect(problem.fix ?? "").toMatch(/\w{2}/);
  expect(problem.issues?.length ?? 1).toBe(1);
  expect(problem.message.length).toBeLessThan(700);
  expect(problem.message).not.toMatch(/undefined is not|Cannot read propert|\[object Object\]|at .*\.ts:\d/);
}

describe("a malformed tool yields one clear error", () => {
  const circular: Record<string, unknown> = { type: "object" };
  circular["properties"] = { self: circular };
  const rows: readonly Row<unknown>[] = [
    ["a name without letters", { ...good, name: "?!" }, "TOOL_INVALID", "name", '"?!"'],
    ["an empty name", { ...good, name: "" }, "TOOL_INVALID", "name", '""'],
    ["a reserved name", { ...good, name: "execute" }, "TOOL_INVALID", "name", '"execute"'],
    ["a number for a name", { ...good, name: 5 }, "TOOL_INVALID", "name", "5"],
    ["a namespace with blanks", { ...good, namespace: "My Tools" }, "TOOL_INVALID", "namespace", '"My Tools"'],
    ["a version in words", { ...good, version: "latest" }, "TOOL_INVALID", "version", '"latest"'],
    ["a number for a description", { ...good, description: 7 }, "TOOL_INVALID", "description", "7"],
    ["parameters in words", { ...good, parameters: "none" }, "TOOL_INVALID", "parameters", '"none"'],
    ["parameters of a list", { ...good, parameters: { type: "array" } }, "TOOL_INVALID", "parameters.type", '"array"'],
    [
      "parameters that contain themselves",
      { ...good, parameters: circular },
      "TOOL_INVALID",
      "parameters.properties.self",
      "itself",
    ],
    ["eleven examples", { ...good, examples: Array(11).fill("look") }, "TOOL_INVALID", "examples", "11"],
    ["an unknown capability", { ...good, capabilities: ["fly"] }, "TOOL_INVALID", "capabilities.0", '"fly"'],
    ["an unknown risk", { ...good, riskLevel: "huge" }, "TOOL_INVALID", "riskLevel", '"huge"'],
    [
      "a dependency on itself",
      { ...good, dependencies: [{ tool: "look_around", type: "requires" }] },
      "TOOL_INVALID",
      "dependencies.0.tool",
      '"look_around"',
    ],
    ["a timeout in the past", { ...good, timeoutMs: -5 }, "TOOL_INVALID", "timeoutMs", "-5"],
    ["a field that is none", { ...good, descripton: "x" }, "TOOL_INVALID", "descripton", '"x"'],
    ["flags in words", { ...good, deprecated: "yes" }, "TOOL_INVALID", "deprecated", '"yes"'],
    ["a price below zero", { ...good, cost: { monetaryCost: -1 } }, "TOOL_INVALID", "cost.monetaryCost", "-1"],
  ];

  it.each(rows)("%s", async (_what, draft, code, field, value) => {
    expectClear(await problemOf(() => arsenal.addTool(draft as ToolDraft)), code, field, value);
  });

  it("a handler that is no function", async () => {
    const problem = await problemOf(() => arsenal.register({ ...good }, "run" as unknown as () => void));
    expect(problem).toMatchObject({ code: "TOOL_INVALID", field: "handler", value: "run" });
    expect(problem.fix).toContain("=>");
  });

  it("and the others of its batch are registered all the same", async () => {
    await using other = new ToolArsenal({ telemetry: { enabled: false } });
    const drafts = [{ ...good, name: "first" }, ...rows.map(([, draft]) => draft), { ...good, name: "last" }];
    const { registered, rejected } = await other.add(drafts.map((tool) => ({ tool: tool as ToolDraft })));
    expect(registered.map(({ name }) => name)).toEqual(["first", "last"]);
    expect(rejected.map(({ index }) => index)).toEqual(rows.map((_, index) => index + 1));
    expect((await other.retrieve({ context: { query: "look around" } })).tools).toHaveLength(2);
  });
});

describe("a malformed call yields one clear error", () => {
  const call = { toolName: "add", arguments: { a: 1 } };
  const rows: readonly Row<unknown>[] = [
    ["no call", null, "CALL_INVALID", "call", "null"],
    ["no name", { arguments: {} }, "CALL_INVALID", "toolName", "missing"],
    ["a blank name", { ...call, toolName: " " }, "CALL_INVALID", "toolName", '" "'],
    ["arguments in a list", { ...call, arguments: [1] }, "CALL_INVALID", "arguments", "[1]"],
    ["arguments in JSON", { ...call, arguments: '{"a":1}' }, "CALL_INVALID", "arguments", "a"],
    ["a timeout that is too short", { ...call, timeoutMs: 5 }, "CALL_INVALID", "timeoutMs", "5"],
    ["a timeout that is no number", { ...call, timeoutMs: Number.NaN }, "CALL_INVALID", "timeoutMs", "NaN"],
    ["half a retry", { ...call, retryCount: 1.5 }, "CALL_INVALID", "retryCount", "1.5"],
    ["a principal in words", { ...call, principal: "dana" }, "CALL_INVALID", "principal", '"dana"'],
    ["a signal that is none", { ...call, signal: {} }, "CALL_INVALID", "signal", "{}"],
    ["an unknown tool", { ...call, toolName: "ad" }, "TOOL_NOT_FOUND", "toolName", '"ad"'],
    ["a missing argument", { ...call, arguments: {} }, "ARGUMENTS_INVALID", "a", "nothing"],
    ["an argument of the wrong type", { ...call, arguments: { a: "one" } }, "ARGUMENTS_INVALID", "a", 'string "one"'],
    [
      "an argument that is no choice",
      { ...call, arguments: { a: 1, unit: "mile" } },
      "ARGUMENTS_INVALID",
      "unit",
      '"mile"',
    ],
    ["an argument nobody asked for", { ...call, arguments: { a: 1, b: 2 } }, "ARGUMENTS_INVALID", "b", "2"],
  ];

  it.each(rows)("%s", async (_what, given, code, field, value) => {
    const { status, error } = await arsenal.execute(given as ToolCall);
    expect(status).toBe("failure");
    const problem = error as Problem;
    // The message to a model speaks of the tool, so it names the tool where the field is the tool's name.
    expectClear(
      field === "toolName" && code === "TOOL_NOT_FOUND"
        ? { ...problem, message: `toolName ${problem.message}` }
        : problem,
      code,
      field,
      value,
    );
  });

  it.each<Row<unknown>>([
    ["a batch that is none", 5, "CALL_INVALID", "batch", "5"],
    ["a batch without calls", { calls: "add" }, "CALL_INVALID", "calls", '"add"'],
    ["an unknown strategy", { calls: [call], strategy: "random" }, "CALL_INVALID", "strategy", '"random"'],
  ])("%s", async (_what, batch, code, field, value) => {
    expectClear(await problemOf(() => arsenal.executeBatch(batch as BatchCall)), code, field, value);
  });
});

describe("a malformed query yields one clear error", () => {
  const context = { query: "look around" };
  it.each<Row<unknown>>([
    ["no context", {}, "QUERY_INVALID", "context", "missing"],
    ["a blank text", { context: { query: "  " } }, "QUERY_INVALID", "context.query", "empty"],
    ["a limit of none", { context, limit: 0 }, "QUERY_INVALID", "limit", "0"],
    ["a limit of 51", { context, limit: 51 }, "QUERY_INVALID", "limit", "51"],
    ["a threshold above 1", { context, scoreThreshold: 1.1 }, "QUERY_INVALID", "scoreThreshold", "1.1"],
    ["one namespace without its list", { context, namespaces: "crm" }, "QUERY_INVALID", "namespaces", '"crm"'],
    ["an unknown source", { context, sources: ["npm"] }, "QUERY_INVALID", "sources.0", '"npm"'],
    ["a field that is none", { context, limmit: 3 }, "QUERY_INVALID", "limmit", "3"],
    [
      "a message without text",
      { context: { ...context, recentMessages: [{ role: "user", content: 5 }] } },
      "QUERY_INVALID",
      "context.recentMessages.0.content",
      "must be text",
    ],
  ])("%s", async (_what, query, code, field, value) => {
    const problem = await problemOf(() => arsenal.retrieve(query as ToolQuery));
    // A query that is no object has no field to name.
    expectClear(field === "query" ? { ...problem, field: "query" } : problem, code, field, value);
  });
});

describe("a malformed configuration yields one clear error", () => {
  it.each<Row<string>>([
    ["a misspelt key", "execution:\n  max_retrys: 2", "CONFIG_INVALID", "execution.max_retrys", '"max_retrys"'],
    ["a number in words", "execution:\n  max_retries: two", "CONFIG_INVALID", "execution.max_retries", '"two"'],
    [
      "a number out of range",
      "telemetry:\n  prometheus_port: 70000",
      "CONFIG_INVALID",
      "telemetry.prometheus_port",
      "70000",
    ],
    ["a choice that is none", "vector_store:\n  type: redis", "CONFIG_INVALID", "vector_store.type", '"redis"'],
    ["a text for a list", "security:\n  deny: drop_*", "CONFIG_INVALID", "security.deny", '"drop_*"'],
    ["a list for a section", "routing: [1]", "CONFIG_INVALID", "routing", "a list"],
    ["a server without a name", "mcp:\n  servers: [{ url: x }]", "CONFIG_INVALID", "mcp.servers.0.name", "missing"],
    [
      "two servers of one name",
      "arsenal:\n  mcp_servers: [{ name: a }, { name: a }]",
      "CONFIG_INVALID",
      "arsenal.mcp_servers.1.name",
      '"a"',
    ],
    ["a variable that is not set", "vector_store:\n  url: ${NOWHERE}", "CONFIG_INVALID", "vector_store.url", "NOWHERE"],
    [
      "a reference that is none",
      "vector_store:\n  url: ${NO WHERE}",
      "CONFIG_INVALID",
      "vector_store.url",
      "${NO WHERE}",
    ],
    ["a key twice", "auto_sync: true\nauto_sync: true", "CONFIG_INVALID", "auto_sync", "twice"],
    ["no YAML", "a: [", "CONFIG_INVALID", "yaml", "a.yaml:1:5"],
    ["no mapping", "just words", "CONFIG_INVALID", "config", '"just words"'],
  ])("%s", async (_what, text, code, field, value) => {
    const problem = await problemOf(() => parseConfig(text, "a.yaml", {}));
    expectClear(problem, code, field, value);
    expect(problem.message).toMatch(/^a\.yaml:\d+:\d+ /);
  });

  it.each<Row<object>>([
    [
      "an engine that does not exist",
      { vectorStore: { type: "nowhere" } },
      "CONFIG_INVALID",
      "vectorStore.type",
      '"nowhere"',
    ],
    ["a pattern that is none", { security: { deny: [" "] } }, "CONFIG_INVALID", "security.deny.0", '" "'],
  ])("%s", async (_what, config, code, field, value) => {
    expectClear(await problemOf(() => new ToolArsenal(config)), code, field, value);
  });
});

describe("a malformed file or command line yields one clear error and exit 2", () => {
  it.each<Row<readonly string[]>>([
    [
      "a line that is no JSON",
      ["eval", "--tools", "bad.jsonl", "--queries", "bad.jsonl"],
      "INPUT_INVALID",
      "bad.jsonl:2",
      "not json",
    ],
    [
      "a file that is not there",
      ["eval", "--tools", "gone.jsonl", "--queries", "x"],
      "INPUT_INVALID",
      "gone.jsonl",
      "gone.jsonl",
    ],
    ["arguments that are no JSON", ["call", "x", "--args", "{a:1}"], "INPUT_INVALID", "--args", "{a:1}"],
    [
      "a file of arguments that is not there",
      ["call", "x", "--args-file", "gone.json"],
      "INPUT_INVALID",
      "--args-file",
      "gone.json",
    ],
    ["a limit in words", ["search", "x", "--limit", "few"], "INPUT_INVALID", "--limit", '"few"'],
    ["an option that is none", ["list", "--namspace", "x"], "INPUT_INVALID", "--namspace", "--namspace"],
    ["a command that is none", ["lisst"], "INPUT_INVALID", "command", '"lisst"'],
    ["a configuration that is not there", ["list", "--config", "gone.yaml"], "CONFIG_INVALID", "config", "gone.yaml"],
  ])("%s", async (_what, argv, code, field, value) => {
    await writeFile(join(folder, "bad.jsonl"), '{"id":"a"}\nnot json\n');
    const { code: exit, out, err } = await runInMemory([...argv, "--json"], { folder });
    expect([exit, out]).toEqual([2, ""]);
    const { error } = JSON.parse(err) as { readonly error: Problem };
    expectClear({ ...error, field: error.field?.split("/").at(-1) }, code, field, value);
  });

  it("a snapshot that is none", async () => {
    const snapshot = join(folder, "broken.json");
    await writeFile(snapshot, "{ this is no snapshot");
    await using broken = new ToolArsenal({ vectorStore: { snapshot }, telemetry: { enabled: false } });
    const problem = await problemOf(() => broken.listTools());
    expect(problem.code).toBe("STORE_FAILED");
    expect(problem.message).toContain(snapshot);
    expect(problem.fix ?? "").not.toBe("");
  });
});
