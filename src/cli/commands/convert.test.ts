import { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Ran } from "../../../test/e2e/terminal.ts";
import { runCli } from "../run-cli.ts";

/** What the command prints. */
interface Printed {
  readonly tools: readonly Record<string, unknown>[];
  readonly losses: readonly Readonly<Record<string, string>>[];
}

async function run(argv: readonly string[], input: unknown): Promise<Ran> {
  const text = { out: "", err: "" };
  const json = typeof input === "string" ? input : JSON.stringify(input);
  const code = await runCli(["convert", ...argv], {
    out: { write: (part) => (text.out += part) },
    err: { write: (part) => (text.err += part) },
    folder: ".",
    environment: {},
    signal: new AbortController().signal,
    protocol: { input: Readable.from([json]), output: new Writable() },
  });
  return { code, ...text };
}

async function convert(argv: readonly string[], input: unknown): Promise<Printed> {
  const { code, out } = await run(argv, input);
  expect(code).toBe(0);
  return JSON.parse(out) as Printed;
}

const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const READ = { name: "read-file", description: "Reads one file of the project.", inputSchema };
const FROM_MCP = ["--from", "mcp"];

describe("convert", () => {
  it.each([[{ tools: [READ] }], [[READ]]])("reads %j, and keeps the name", async (input) => {
    expect(await convert([...FROM_MCP, "--to", "anthropic"], input)).toEqual({
      tools: [{ name: "read-file", description: READ.description, input_schema: inputSchema }],
      losses: [],
    });
  });

  it("says on stderr how it went, and nothing with --json", async () => {
    const argv = [...FROM_MCP, "--to", "openai"];
    expect((await run([...argv, "--strict"], [READ])).err).toBe("1 tool, 1 of them strict, 1 loss\n");
    expect((await run([...argv, "--json"], [READ])).err).toBe("");
  });

  it("marks strict what can be, and says of the others why not", async () => {
    const anything = {
      name: "store",
      description: "Stores whatever it is given.",
      inputSchema: { type: "object", additionalProperties: true },
    };
    const { tools, losses } = await convert([...FROM_MCP, "--to", "openai", "--strict"], [READ, anything]);
    expect(tools).toMatchObject([
      { function: { name: "read-file", strict: true, parameters: { additionalProperties: false } } },
      { function: { name: "store" } },
    ]);
    expect(tools[1]).not.toHaveProperty(["function", "strict"]);
    expect(losses).toContainEqual(expect.objectContaining({ tool: "store", action: "refused" }));
    const cohere = await convert([...FROM_MCP, "--to", "cohere", "--strict"], [READ]);
    expect(cohere.losses).toMatchObject([{ tool: "read-file", keyword: "strict", action: "refused" }]);
  });

  it("keeps to what one request may hold only with --limit", async () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ ...READ, name: `read_${index}` }));
    const strictOf = ({ tools }: Printed): number => tools.filter(({ strict }) => strict === true).length;
    const argv = [...FROM_MCP, "--to", "anthropic", "--strict"];
    expect(strictOf(await convert(argv, many))).toBe(30);
    const limited = await convert([...argv, "--limit", "25"], many);
    expect([limited.tools.length, strictOf(limited)]).toEqual([25, 20]);
    expect(limited.losses.filter(({ action }) => action === "refused")).toHaveLength(5);
  });

  it("goes on where one definition is none, and fails only where all are [003-adapter-wrong-shape]", async () => {
    const broken = [null, { description: "nameless" }, READ, 7];
    const { tools, losses } = await convert([...FROM_MCP, "--to", "openai"], broken);
    expect(tools).toHaveLength(1);
    expect(losses.map(({ tool, action }) => [tool, action])).toEqual([
      ["#1", "dropped"],
      ["#2", "dropped"],
      ["#4", "dropped"],
    ]);
    expect((await run([...FROM_MCP, "--to", "openai"], [null])).code).toBe(1);
    expect((await run([...FROM_MCP, "--to", "openai"], [])).code).toBe(0);
  });

  it("keeps clashing names and names that the target refuses apart", async () => {
    const names = ["files.read", "files/read", "read", "read", "x".repeat(80)];
    const { tools, losses } = await convert(
      [...FROM_MCP, "--to", "anthropic"],
      names.map((name) => ({ ...READ, name })),
    );
    const given = tools.map(({ name }) => name as string);
    expect(new Set(given).size).toBe(5);
    for (const name of given) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    expect(given[2]).toBe("read");
    expect(losses.map(({ tool, keyword, message }) => [tool, keyword, message]).slice(0, 2)).toEqual([
      [given[0], "name", 'was named "files.read"'],
      [given[1], "name", 'was named "files/read"'],
    ]);
    const back = await convert([...FROM_MCP, "--to", "mcp"], [{ ...READ, name: "files.read" }]);
    expect(back.tools).toEqual([{ ...READ, name: "files.read" }]);
  });

  it("tells the dialect of what it reads by itself with auto", async () => {
    const { tools } = await convert(
      ["--from", "auto", "--to", "mcp"],
      [{ name: "read", description: READ.description, input_schema: inputSchema }],
    );
    expect(tools).toEqual([{ name: "read", description: READ.description, inputSchema }]);
    const grouped = { tools: [{ functionDeclarations: [{ name: "read", parametersJsonSchema: inputSchema }] }] };
    expect((await convert(["--from", "gemini", "--to", "mcp"], grouped)).tools).toMatchObject([
      { name: "read", inputSchema },
    ]);
  });

  it.each([
    [["--to", "openai"], "[]", "--from is missing. Write --from and one of openai,"],
    [["--from", "mcp"], "[]", "--to is missing."],
    [["--from", "mcp", "--to", "opnai"], "[]", '--to: dialect is "opnai", which is not a dialect. Use openai'],
    [
      ["--from", "auto", "--to", "openai"],
      '[{"x": 1}]',
      "--from: The dialect cannot be inferred from the hint: an object with the members x.",
    ],
    [["--from", "mcp", "--to", "openai"], "{", "Cannot read tools from standard input: it is not JSON"],
    [["--from", "mcp", "--to", "openai"], '{"tool": []}', "Cannot read tools from standard input: it is"],
    [["--from", "mcp", "--to", "openai", "--limit", "0"], "[]", "--limit must be a whole number from 1"],
  ])("%j is wrong usage: exit 2", async (argv, input, message) => {
    const { code, out, err } = await run(argv, input);
    expect([code, out, err]).toEqual([2, "", expect.stringContaining(message)]);
  });
});
