import { internalsOf } from "../../src/arsenal.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { startLegacyServer } from "../mcp/upstream-server.ts";
import { runInMemory } from "./terminal.ts";

const quiet = { telemetry: { enabled: false } } as const;

let folder: string;
let server: Awaited<ReturnType<typeof startLegacyServer>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-"));
  server = await startLegacyServer();
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const sample = (): { readonly name: string; readonly type: "http"; readonly url: string } => ({
  name: "sample",
  type: "http",
  url: server.url,
});

/** How many clients have introduced themselves to the server. */
const clients = (): number => server.requests.filter(({ body }) => body?.["method"] === "initialize").length;

describe("the constructor", () => {
  it("connects nothing; start() connects, once", async () => {
    const config = { ...quiet, mcp: { servers: [sample()] } };
    await using wired = new ToolArsenal(config);
    await using started = new ToolArsenal(config);
    const before = clients();
    await Promise.all([started.start(), started.start()]);
    await internalsOf(started).upstreamsAttempted();
    expect(clients() - before).toBe(1);
    expect(internalsOf(started).upstreams.map(({ state }) => state.kind)).toEqual(["connected"]);
    expect([internalsOf(wired).upstreams, wired.toolCount]).toEqual([[], 0]);
  });

  it("leaves starting to the first method that needs it", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, builtins: { tools: ["http-get"] } });
    expect(arsenal.toolCount).toBe(0);
    expect((await arsenal.listTools()).map(({ id }) => id)).toEqual(["builtin.http_get"]);
  });

  it("still refuses a broken configuration at once", () => {
    expect(() => new ToolArsenal({ builtins: { tools: ["fly" as never] } })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }) as Error,
    );
  });
});

describe("start()", () => {
  it("says how each OpenAPI document fared", async () => {
    const document = join(folder, "absent.json");
    await using arsenal = new ToolArsenal({ ...quiet, openapi: [{ name: "pets", document }] });
    const { sources } = await arsenal.start();
    expect(await sources).toMatchObject([{ name: "pets", place: document, error: { code: "CONFIG_INVALID" } }]);
  });

  it("is refused after close(), and close() before it connects nothing", async () => {
    const arsenal = new ToolArsenal({ ...quiet, mcp: { servers: [sample()] } });
    const before = clients();
    await arsenal.close();
    await expect(arsenal.start()).rejects.toMatchObject({ code: "CLOSED" });
    await internalsOf(arsenal).upstreamsAttempted();
    expect(clients()).toBe(before);
  });
});

describe("one configuration", () => {
  it("gives the library and the command line the same tools", async () => {
    const put = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
    await put(
      "greet.mjs",
      `export default (arsenal) => arsenal.addTool(
        { name: "greet", description: "Greets somebody by name.", parameters: { type: "object" } }, () => "hello");`,
    );
    const ping = { get: { operationId: "ping", summary: "Answers.", responses: { "200": { description: "Fine" } } } };
    await put(
      "pets.json",
      JSON.stringify({
        openapi: "3.1.0",
        info: { title: "Pets", version: "1" },
        servers: [{ url: "http://127.0.0.1:9" }],
        paths: { "/ping": ping },
      }),
    );
    await put(
      "arsenal.yaml",
      [
        "telemetry: { enabled: false }",
        "modules: [./greet.mjs]",
        "builtins: { tools: [http-get] }",
        "openapi: [{ name: pets, document: ./pets.json }]",
        `mcp: { servers: [{ name: sample, type: http, url: "${server.url}" }] }`,
      ].join("\n"),
    );
    await using arsenal = await ToolArsenal.fromConfig(join(folder, "arsenal.yaml"));
    await internalsOf(arsenal).upstreamsAttempted();
    const ids = (await arsenal.listTools()).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["builtin.http_get", "default.greet", "pets.ping"]));
    expect(ids.some((id) => id.startsWith("sample."))).toBe(true);
    const listed = await runInMemory(["list", "--json"], { folder });
    expect((JSON.parse(listed.out) as { readonly id: string }[]).map(({ id }) => id)).toEqual(ids);
  });
});
