import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listenAs } from "../../test/e2e/era-server.ts";
import { createDescriptorFolder, type DescriptorFolder, IO_TOML } from "../../test/ensembles/descriptor-folder.ts";
import { McpServer } from "@modelcontextprotocol/server";
import { internalsOf, ToolArsenal } from "../arsenal.ts";
import { createEnsemble, createInvoker, type EnsembleDefinition } from "./create-ensemble.ts";
import { type EnsemblesConfiguration, prepareEnsembles } from "./prepare-ensembles.ts";

let folder: DescriptorFolder;
let arsenal: ToolArsenal;
const ends: (() => unknown)[] = [];
beforeEach(() => {
  folder = createDescriptorFolder();
  arsenal = new ToolArsenal({ telemetry: { enabled: false } });
});
afterEach(async () => {
  await arsenal.close();
  for (const end of ends.splice(0).toReversed()) await end();
  folder.remove();
});

const handlers = { read_file: (_context: unknown, { path }: Readonly<Record<string, unknown>>) => `text of ${path}` };

/** An ensemble that writes down when it is connected and disconnected. */
function logging(name: string, log: string[], connect: () => void = () => {}): EnsembleDefinition {
  const description = "Says which ensemble it is in.";
  return {
    name,
    invokers: [createInvoker({ name: "where", description, invocable: ({ invoker }) => invoker.ensemble.name })],
    connect: async () => (connect(), log.push(`+${name}`)),
    disconnect: async () => void log.push(`-${name}`),
  };
}

async function startServer(): Promise<string> {
  const { url, close } = await listenAs("legacy", () => {
    const server = new McpServer({ name: "weather", version: "1.0.0" });
    server.registerTool("read_file", { description: "Reads a weather file." }, async () => ({
      content: [{ type: "text", text: "sunny" }],
    }));
    return server;
  });
  ends.push(close);
  return url;
}

describe("prepared ensembles", () => {
  it("are every enabled one of a configuration, connected in order, each MCP server one [001-configuration-prepare]", async () => {
    const server = { name: "weather", transport: { kind: "http", url: await startServer() } } as const;
    const log: string[] = [];
    const ensembles = await prepareEnsembles(
      {
        ensembles: [
          { file: "io.toml" },
          { server },
          logging("notes", log),
          { ...logging("off", log), enabled: false },
          { server: { ...server, name: "down" }, enabled: false },
        ],
      },
      { arsenal, folder: folder.path, handlers },
    );
    expect(ensembles.map(({ name }) => name)).toEqual(["io", "weather", "notes"]);
    expect(log).toEqual(["+notes"]);
    const [io, weather, notes] = ensembles;
    expect(io?.configuration).toEqual({ timeout: 30, maxRetries: 3 });
    expect([...(io?.invokers.keys() ?? [])].sort()).toEqual(["read_file", "write_file"]);
    expect(weather?.connection).toBe(internalsOf(arsenal).upstreams[0]);
    expect(weather?.connection).toMatchObject({ name: "weather", state: { kind: "connected" } });
    // Two ensembles have a tool of this name.
    expect((await io?.accessInvoker("read_file").invoke({ path: "/a" }))?.result).toBe("text of /a");
    expect((await weather?.accessInvoker("read_file").invoke({}))?.result).toMatchObject({
      content: [{ type: "text", text: "sunny" }],
    });
    expect((await notes?.accessInvoker("where").invoke({}))?.result).toBe("notes");
  });

  it("are there for a conversation, and disconnected after it, the last first [001-flow-lifetime]", async () => {
    const log: string[] = [];
    {
      await using ensembles = await prepareEnsembles(
        { ensembles: [logging("one", log), join(folder.path, "io.toml"), logging("two", log)] },
        { arsenal },
      );
      expect((await ensembles[2]?.accessInvoker("where").invoke({}))?.result).toBe("two");
      expect(arsenal.toolCount).toBe(4);
    }
    expect(log).toEqual(["+one", "+two", "-two", "-one"]);
    expect(arsenal.toolCount).toBe(0);
  });

  it("share an arsenal of their own, which is closed with the last of them", async () => {
    const log: string[] = [];
    const ensembles = await prepareEnsembles({ ensembles: [logging("one", log), logging("two", log)] });
    const [one, two] = ensembles;
    const own = one?.arsenal;
    expect(two?.arsenal).toBe(own);
    await one?.disconnect();
    expect((await two?.accessInvoker("where").invoke({}))?.result).toBe("two");
    await two?.disconnect();
    await expect(own?.listTools()).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("come from every file in a folder, or of a pattern", async () => {
    folder.write("b.toml", '[ensemble]\nname = "b"\n');
    folder.write("off.toml", '[ensemble]\nname = "off"\nenabled = false\n');
    const names = async (path: string): Promise<readonly string[]> => {
      await using ensembles = await prepareEnsembles({ ensembles: [path] }, { arsenal, folder: folder.path });
      return ensembles.map(({ name }) => name);
    };
    expect(await names(".")).toEqual(["b", "io"]);
    expect(await names("i*.toml")).toEqual(["io"]);
    await expect(names("no*.toml")).rejects.toThrow("no*.toml has no ensemble.");
  });

  it("hand a descriptor's handler the invoker with its ensemble", async () => {
    const where = ({ invoker }: { readonly invoker: object }): unknown => Object.keys(invoker);
    await using ensembles = await prepareEnsembles(
      { ensembles: [{ file: "io.toml", handlers: { read_file: where } }] },
      { arsenal, folder: folder.path },
    );
    const { result } = (await ensembles[0]?.accessInvoker("read_file").invoke({ path: "/a" })) ?? {};
    expect(result).toContain("ensemble");
  });
});

it.each([
  [{}, "ensembles must be a list, not undefined."],
  [{ ensembles: "io.toml" }, 'ensembles must be a list, not "io.toml".'],
  [{ ensembles: [createEnsemble({ name: "io", invokers: [] })] }, '"io" is a finished ensemble.'],
])("prepareEnsembles refuses %j", async (configuration, problem) => {
  await expect(prepareEnsembles(configuration as EnsemblesConfiguration)).rejects.toThrow(problem);
});

describe("when an ensemble fails", () => {
  const broken = (log: string[]): EnsembleDefinition =>
    logging("broken", log, () => {
      throw new Error("connection refused");
    });

  it("those before it are disconnected, the last first, and the error is thrown", async () => {
    const log: string[] = [];
    const ensembles = [logging("one", log), logging("two", log), broken(log), logging("three", log)];
    await expect(prepareEnsembles({ ensembles }, { arsenal })).rejects.toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      message: expect.stringContaining("connection refused"),
    });
    expect(log).toEqual(["+one", "+two", "-two", "-one"]);
    expect(arsenal.toolCount).toBe(0);
  });

  it("nothing stays connected when the caller gives up while one connects, whatever happens to failures", async () => {
    for (const onFailure of ["throw", "report"] as const) {
      const log: string[] = [];
      const giveUp = new AbortController();
      const slow: EnsembleDefinition = {
        ...logging("slow", log),
        connect: () => (giveUp.abort(new Error("never mind")), new Promise(() => {})),
      };
      const ensembles = [logging("one", log), slow, logging("two", log)];
      const prepared = prepareEnsembles({ ensembles }, { arsenal, onFailure, signal: giveUp.signal });
      await expect(prepared).rejects.toThrow("never mind");
      expect(log).toEqual(["+one", "-one"]);
    }
  });

  it("the others are used if failures are to be reported", async () => {
    const log: string[] = [];
    folder.write("io.toml", IO_TOML.replace("timeout = 30", "timeout = true"));
    const wrong = { file: join(folder.path, "io.toml") };
    await using ensembles = await prepareEnsembles(
      { ensembles: [logging("one", log), wrong, broken(log), logging("one", []), {} as never, logging("two", log)] },
      { arsenal, onFailure: "report" },
    );
    expect(ensembles.map(({ name }) => name)).toEqual(["one", "two"]);
    expect(ensembles.failures.map(({ error }) => error.message)).toEqual([
      expect.stringContaining("io.toml:6: defaults.timeout must be a number of seconds"),
      expect.stringContaining("connection refused"),
      expect.stringContaining('There is already an ensemble named "one"'),
      expect.stringContaining("{} is not an ensemble."),
    ]);
    expect(ensembles.failures[0]?.entry).toBe(wrong);
  });

  it("the other files of a folder are used, too", async () => {
    folder.write("a.toml", "[ensemble]\n");
    await using ensembles = await prepareEnsembles({ ensembles: [folder.path] }, { arsenal, onFailure: "report" });
    expect(ensembles.map(({ name }) => name)).toEqual(["io"]);
    expect(ensembles.failures[0]?.error.message).toContain("a.toml:1: ensemble.name is missing");
  });
});
