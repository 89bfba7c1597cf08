import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { internalsOf } from "../../src/arsenal.ts";
import { localOperator, type Principal } from "../../src/guard/principal.ts";
import { type ToolResult, ToolArsenal } from "../../src/index.ts";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const quiet = { telemetry: { enabled: false } } as const;
const remote = (id: string): Principal => localOperator({ id, local: false });

/** An arsenal with an MCP server over stdio whose tools fail in one way each. */
async function failingServer(): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal(quiet);
  endings.push(() => arsenal.close());
  const program = fileURLToPath(new URL("failing-server.ts", import.meta.url));
  await arsenal.add({ type: "mcp", name: "files", command: process.execPath, args: [program] });
  return arsenal;
}

/** An arsenal with an API that answers every request with this status. */
async function api(status: number): Promise<ToolArsenal> {
  const server = createServer((_request, response) => response.writeHead(status).end());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  endings.push(() => new Promise((resolve) => void server.close(resolve)));
  const get = { operationId: "getPet", summary: "Shows a pet.", responses: { "200": { description: "A pet." } } };
  const document = { openapi: "3.1.0", info: { title: "Pets", version: "1" }, paths: { "/pet": { get } } };
  const arsenal = new ToolArsenal(quiet);
  endings.push(() => arsenal.close());
  const { port } = server.address() as AddressInfo;
  await arsenal.add({ type: "openapi", name: "pets", document, server: `http://127.0.0.1:${port}` });
  return arsenal;
}

async function callTimes(arsenal: ToolArsenal, toolName: string, times: number, by = "ada"): Promise<ToolResult[]> {
  const results: ToolResult[] = [];
  for (let count = 0; count < times; count++)
    results.push(await arsenal.execute({ toolName, principal: remote(by), arguments: {} }));
  return results;
}

describe("a caller's mistakes", () => {
  it("leave a tool's health, place and circuit as they were: ten reads of missing files", async () => {
    const arsenal = await failingServer();
    const context = { query: "read a text file" };
    const before = (await arsenal.retrieve({ context, scoreThreshold: 0 })).tools;
    const results = await callTimes(arsenal, "files.read_text_file", 10);
    expect(results.at(-1)).toMatchObject({ status: "failure", error: { answered: true } });
    expect(internalsOf(arsenal).health("files.read_text_file")).toMatchObject({ successRate: 1, circuitOpen: false });
    const after = (await arsenal.retrieve({ context, scoreThreshold: 0 })).tools;
    expect(after.map(({ tool, score }) => [tool.id, score])).toEqual(before.map(({ tool, score }) => [tool.id, score]));
  });

  it.each(["files.wrong_parameters", "files.missing_resource"])(
    "are JSON-RPC errors such as that of %s",
    async (tool) => {
      const arsenal = await failingServer();
      expect((await callTimes(arsenal, tool, 7)).at(-1)).toMatchObject({ status: "failure" });
      expect(internalsOf(arsenal).health(tool)).toMatchObject({ totalCalls: 0, circuitOpen: false });
    },
  );

  it.each([400, 401, 403, 404, 422, 429])("are answers with HTTP status %i", async (status) => {
    const arsenal = await api(status);
    expect((await callTimes(arsenal, "pets.get_pet", 7)).at(-1)).toMatchObject({ status: "failure" });
    expect(internalsOf(arsenal).health("pets.get_pet")).toMatchObject({ totalCalls: 0, circuitOpen: false });
  });

  it("do not hide failures of the tool between them", async () => {
    const arsenal = new ToolArsenal(quiet);
    endings.push(() => arsenal.close());
    const parameters = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } as const;
    arsenal.register({ name: "look", description: "Looks something up.", parameters }, () => {
      throw new Error("the database is gone");
    });
    for (let count = 0; count < 5; count++) {
      await arsenal.execute({ toolName: "look", arguments: { id: 1 }, principal: remote("ada") });
      await callTimes(arsenal, "look", 1, "eve");
    }
    expect(internalsOf(arsenal).health("default.look")).toMatchObject({ circuitOpen: true });
  });

  it("are timeouts that a remote caller set shorter than the tool's", async () => {
    const arsenal = new ToolArsenal(quiet);
    endings.push(() => arsenal.close());
    const draft = { name: "wait", description: "Waits.", parameters: { type: "object" }, timeoutMs: 200 };
    arsenal.register(draft, () => new Promise(() => {}));
    const calls = (by: string, timeoutMs?: number): Promise<ToolResult[]> => {
      const call = { toolName: "wait", principal: remote(by), ...(timeoutMs && { timeoutMs }) };
      return Promise.all(Array.from({ length: 6 }, () => arsenal.execute(call)));
    };
    expect((await calls("eve", 100))[5]?.status).toBe("timeout");
    expect(internalsOf(arsenal).health("default.wait")).toMatchObject({ totalCalls: 0, circuitOpen: false });
    await calls("ada");
    expect(internalsOf(arsenal).health("default.wait")).toMatchObject({ totalCalls: 6, circuitOpen: true });
  });
});

describe("a tool's failures", () => {
  it("open its circuit: errors of the protocol", async () => {
    const arsenal = await failingServer();
    const statuses = (await callTimes(arsenal, "files.break_down", 21)).map(({ status }) => status);
    expect(statuses.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => "failure"));
    expect(new Set(statuses.slice(5))).toEqual(new Set(["circuit_open"]));
    expect(internalsOf(arsenal).health("files.break_down")).toMatchObject({ successRate: 0, circuitOpen: true });
  });

  it.each([500, 502, 503, 504])("open its circuit: seven answers with HTTP status %i", async (status) => {
    const arsenal = await api(status);
    const statuses = (await callTimes(arsenal, "pets.get_pet", 7)).map((result) => result.status);
    expect(statuses).toEqual([...Array.from({ length: 5 }, () => "failure"), "circuit_open", "circuit_open"]);
    expect(internalsOf(arsenal).health("pets.get_pet")).toMatchObject({ successRate: 0, circuitOpen: true });
  });
});
