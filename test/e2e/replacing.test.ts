import { internalsOf } from "../../src/arsenal.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Handler, ToolArsenal } from "../../src/index.ts";
import type { Source } from "../../src/adapters/sources/index.ts";

const quiet = { telemetry: { enabled: false } } as const;
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

function fail(): never {
  throw new Error("broken");
}

function register(arsenal: ToolArsenal, description: string, handler: Handler): void {
  arsenal.register({ name: "fetch_page", description, parameters: { type: "object", properties: {} } }, handler);
}

async function openCircuit(arsenal: ToolArsenal): Promise<void> {
  register(arsenal, "Fetches a page of the web.", fail);
  for (let time = 0; time < 5; time++) await arsenal.execute({ toolName: "fetch_page" });
  expect(internalsOf(arsenal).health("default.fetch_page").circuitOpen).toBe(true);
}

describe("a tool whose circuit is open", () => {
  it("is called again once it is replaced by another definition", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await openCircuit(arsenal);
    register(arsenal, "Fetches a page of the web, fixed.", () => "page");
    expect(internalsOf(arsenal).health("default.fetch_page")).toMatchObject({ circuitOpen: false, totalCalls: 5 });
    expect((await arsenal.execute({ toolName: "fetch_page" })).result).toBe("page");
  });

  it("stays alone where the same definition is registered again", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await openCircuit(arsenal);
    register(arsenal, "Fetches a page of the web.", () => "page");
    expect((await arsenal.execute({ toolName: "fetch_page" })).status).toBe("circuit_open");
  });

  it("has no past once it is deleted and comes back", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await openCircuit(arsenal);
    expect(await arsenal.deleteTool("fetch_page")).toBe(true);
    register(arsenal, "Fetches a page of the web.", () => "page");
    expect(internalsOf(arsenal).health("default.fetch_page")).toMatchObject({ totalCalls: 0, circuitOpen: false });
    expect((await arsenal.execute({ toolName: "fetch_page" })).result).toBe("page");
  });
});

describe("an ensemble of an arsenal that starts from a snapshot", () => {
  const source: Source = {
    name: "files",
    kind: "mcp",
    connect: () => Promise.resolve(),
    list: async () => [{ draft: { name: "open", description: "Opens a file." }, handler: () => "opened" }],
    disconnect: () => Promise.resolve(),
  };

  it("takes its own tools back, and keeps its hands off those of others", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arsenal-"));
    folders.push(folder);
    const config = { ...quiet, vectorStore: { snapshot: join(folder, "tools.json") } };
    {
      await using first = new ToolArsenal(config);
      await first.add(source);
      await first.addTool({
        name: "close",
        namespace: "files",
        description: "Closes a file.",
        parameters: { type: "object", properties: {} },
      });
      await first.sync();
    }
    await using second = new ToolArsenal(config);
    const both = { draft: { name: "close", description: "Closes all files." }, handler: () => "closed" };
    expect(await second.add({ ...source, list: async (options) => [...(await source.list(options)), both] })).toBe(2);
    const tools = await second.listTools();
    expect(tools.map(({ name, ensemble }) => [name.replace(/_[0-9a-f]{8}$/, "_#"), ensemble])).toEqual([
      ["close", undefined],
      ["close_#", "files"],
      ["open", "files"],
    ]);
    expect((await second.execute({ toolName: "files.open" })).result).toBe("opened");
  });
});
