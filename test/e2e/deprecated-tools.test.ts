import { internalsOf } from "../../src/arsenal.ts";
import { expect, it, onTestFinished } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { startLegacyServer } from "../mcp/upstream-server.ts";

const inputSchema = { type: "object", properties: { path: { type: "string" } } };

async function arsenal(): Promise<ToolArsenal> {
  const made = new ToolArsenal({ telemetry: { enabled: false }, embedder: { tier: "static", cache: false } });
  onTestFinished(() => made.close());
  return made;
}

async function found(from: ToolArsenal, query: string): Promise<readonly string[]> {
  await internalsOf(from).settled();
  const { tools } = await from.retrieve({ context: { query }, refuse: "never" });
  return tools.map(({ tool }) => tool.name);
}

it("an MCP server's tool whose description says that it is deprecated gives way to its replacement", async () => {
  const server = await startLegacyServer();
  onTestFinished(() => server.close());
  server.pages = [
    [
      { name: "read_file", description: "Read a file. DEPRECATED: use read_text_file", inputSchema },
      { name: "read_text_file", description: "Read the text of a file from the file system.", inputSchema },
      { name: "find_old", description: "Finds deprecated APIs in files.", inputSchema },
    ],
  ];
  const from = await arsenal();
  await from.addMcpServer({ name: "files", transport: { kind: "http", url: server.url } });
  const [first, ...others] = await found(from, "read a file");
  expect([first, others.includes("read_file")]).toEqual(["read_text_file", false]);
  expect(await found(from, "find deprecated APIs in my files")).toContain("find_old");
  expect((await from.getTool("read_file", "files"))?.deprecated).toBe(true);
});

it("so does an operation of an OpenAPI document, whether its text or its field says so", async () => {
  const operation = (operationId: string, summary: string, more: object = {}): object => ({
    get: { operationId, summary, responses: { 200: { description: "Done" } }, ...more },
  });
  const from = await arsenal();
  await from.add({
    type: "openapi",
    name: "files",
    document: {
      openapi: "3.1.0",
      info: { title: "Files", version: "1" },
      servers: [{ url: "https://files.example" }],
      paths: {
        "/v1": operation("readV1", "Read a file [Deprecated]"),
        "/v2": operation("readV2", "Read a file", { deprecated: true }),
        "/v3": operation("readV3", "Read the text of a file"),
      },
    },
  });
  expect(await found(from, "read a file")).toEqual(["read_v3"]);
});
