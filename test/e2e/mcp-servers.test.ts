import { internalsOf } from "../../src/arsenal.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type ArsenalEvent, ToolArsenal } from "../../src/index.ts";
import { serveFixture } from "../conformance/fixture-server.ts";
import { startLegacyServer } from "../mcp/upstream-server.ts";
import { holdStdio } from "./held-server.ts";
import { markedProcesses } from "./open-descriptors.ts";

const EVERYTHING = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

function createArsenal(): { readonly arsenal: ToolArsenal; readonly events: ArsenalEvent[] } {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const events: ArsenalEvent[] = [];
  arsenal.subscribe((event) => void events.push(event));
  endings.push(() => arsenal.close());
  return { arsenal, events };
}

describe("an MCP server in an arsenal", () => {
  it("comes by its command, says how many tools it has, and they are found and run [000-14-add-mcp-server] [002-mcp-connect] [004-mcp-example-servers]", async () => {
    const { arsenal } = createArsenal();
    const transport = { kind: "stdio", command: process.execPath, args: [EVERYTHING, "stdio"] } as const;
    const count = await arsenal.addMcpServer({ name: "everything", transport });
    expect(count).toBe(arsenal.toolCount);
    const [best] = (await arsenal.retrieve({ context: { query: "add two numbers" } })).tools;
    expect(best?.tool.id).toBe("everything.get_sum");
    const { status, result } = await arsenal.execute({ toolName: "everything.get_sum", arguments: { a: 2, b: 3 } });
    expect(status).toBe("success");
    expect(result).toMatchObject({ content: [{ type: "text", text: "The sum of 2 and 3 is 5." }] });
  });

  it("keeps every kind of content of a result [004-mcp-content]", async () => {
    const fixture = await serveFixture();
    endings.push(() => fixture.close());
    const { arsenal } = createArsenal();
    await arsenal.addMcpServer({ name: "fixture", transport: { kind: "http", url: fixture.url } });
    const { result } = await arsenal.execute({ toolName: "fixture.test_multiple_content_types" });
    expect((result as { content: { type: string }[] }).content.map(({ type }) => type)).toEqual([
      "text",
      "image",
      "resource",
    ]);
  });

  it("is listed with its state and version, told of when it comes and goes, and takes its tools along [002-mcp-status] [002-mcp-events] [002-mcp-disconnect]", async () => {
    const server = await startLegacyServer();
    endings.push(() => server.close());
    const { arsenal, events } = createArsenal();
    await arsenal.addMcpServer({ name: "sample", transport: { kind: "http", url: server.url } });
    expect(internalsOf(arsenal).upstreams.map(({ name, state }) => ({ name, ...state }))).toMatchObject([
      { name: "sample", kind: "connected", era: "legacy", protocolVersion: "2025-11-25" },
    ]);
    expect(await arsenal.remove("sample")).toBe(true);
    expect(internalsOf(arsenal).upstreams).toEqual([]);
    expect(arsenal.toolCount).toBe(0);
    await arsenal.close();
    const told = events.filter(({ name }) => name.startsWith("ensemble-"));
    expect(told.map(({ name, data }) => [name, (data as { ensemble: string }).ensemble])).toEqual([
      ["ensemble-connected", "sample"],
      ["ensemble-disconnected", "sample"],
    ]);
  });

  it("that cannot be reached is refused with its name, and leaves nothing behind", async () => {
    const { arsenal } = createArsenal();
    const transport = { kind: "stdio", command: "no-such-program" } as const;
    await expect(arsenal.addMcpServer({ name: "absent", transport })).rejects.toThrow(/absent[^]*no-such-program/);
    expect(internalsOf(arsenal).upstreams).toEqual([]);
  });

  it("that is given up while it connects, or has a taken name, leaves no process behind", async () => {
    const { arsenal } = createArsenal();
    const held = await holdStdio();
    endings.push(() => held.close());
    const mark = `MARK_${process.pid}_${Date.now()}`;
    const transport = { kind: "stdio", command: held.command, args: held.args, env: { [mark]: "1" } } as const;
    const controller = new AbortController();
    const adding = arsenal.addMcpServer({ name: "held", transport }, { signal: controller.signal });
    await held.asked;
    expect(markedProcesses(mark)).toHaveLength(1);
    controller.abort();
    await expect(adding).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
    expect([internalsOf(arsenal).upstreams, markedProcesses(mark)]).toEqual([[], []]);

    held.release();
    await arsenal.addMcpServer({ name: "held", transport });
    await expect(arsenal.addMcpServer({ name: "held", transport })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect([internalsOf(arsenal).upstreams.length, markedProcesses(mark).length]).toEqual([1, 1]);
  });

  it("of a configuration gets its headers from the environment, and one bad server leaves the others be [000-14-serve-mcp] [004-mcp-auth] [004-config-servers] [000-9.1-serve-mcp]", async () => {
    const server = await startLegacyServer();
    endings.push(() => server.close());
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-mcp-"));
    endings.push(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "arsenal.yaml");
    const lines = [
      "arsenal:",
      "  mcp_servers:",
      `    - { name: sample, type: http, endpoint: "${server.url}", headers: { Authorization: "Bearer \${SAMPLE_TOKEN}" } }`,
      "    - { name: absent, type: stdio, command: [no-such-program] }",
      "mcp: { mcp_mode: static }",
      "telemetry: { enabled: false }",
    ];
    writeFileSync(path, lines.join("\n"));
    const arsenal = await ToolArsenal.fromConfig(path, { environment: { SAMPLE_TOKEN: "t0ken" } });
    endings.push(() => arsenal.close());
    await internalsOf(arsenal).upstreamsAttempted();
    expect(internalsOf(arsenal).upstreams.map(({ name, state }) => [name, state.kind])).toEqual([
      ["sample", "connected"],
      ["absent", "failed"],
    ]);
    expect(server.requests[0]?.headers.authorization).toBe("Bearer t0ken");
    const gateway = await arsenal.serve({ port: 0 });
    endings.push(() => gateway.close());
    const ready = await fetch(`${gateway.url}/readyz`);
    expect(await ready.json()).toEqual({ upstreams: { sample: "connected", absent: "failed" } });
  });
});
