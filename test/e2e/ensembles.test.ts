import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ArsenalEvent, EventName } from "../../src/index.ts";
import { ToolArsenal } from "../../src/index.ts";
import {
  createDescriptorFolder,
  type DescriptorFolder,
  IO_TOML,
  READ_FILE_TOML,
  WRITE_FILE_TOML,
} from "../ensembles/descriptor-folder.ts";
import { type Ran, runInMemory } from "./terminal.ts";

let folder: DescriptorFolder;
beforeEach(() => void (folder = createDescriptorFolder()));
afterEach(() => folder.remove());

const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(argv, { folder: folder.path });

function configure(text: string): string {
  return folder.write("arsenal.yaml", `telemetry: { enabled: false }\n${text}\n`);
}

/** Resolves with the first event of a name. */
function next(arsenal: ToolArsenal, name: EventName): Promise<ArsenalEvent["data"]> {
  return new Promise((resolve) => {
    const end = arsenal.subscribe((event) => {
      if (event.name !== name) return;
      end();
      resolve(event.data);
    });
  });
}

describe("ensembles in a configuration file", () => {
  it("are there once the arsenal is, with handlers from modules and from code [001-configuration-prepare]", async () => {
    const handlers = {
      read_file: (_context: unknown, { path }: Readonly<Record<string, unknown>>) => `text of ${path}`,
    };
    await using arsenal = await ToolArsenal.fromConfig(configure("ensembles: [io.toml]"), { handlers });
    expect((await arsenal.listTools({ source: "descriptor" })).map(({ id }) => id)).toEqual([
      "io.read_file",
      "io.write_file",
    ]);
    const read = await arsenal.execute({ toolName: "io.read_file", arguments: { path: "/a" } });
    expect(read).toMatchObject({ status: "success", result: "text of /a" });
    const written = await arsenal.execute({ toolName: "io.write_file", arguments: { path: "/a", text: "x" } });
    expect(written.status).toBe("success");
  });

  it("come from folders and patterns; one that is wrong leaves the others alone, and comes when it is fixed", async () => {
    folder.write(
      "ensembles/b.toml",
      '[ensemble]\nname = "b"\n[[invokers]]\nsource = "../io/invokers/read_file.toml"\n',
    );
    const wrong = folder.write("ensembles/c.toml", '[ensemble]\nname = "c"\n[defaults]\ntimout = 3\n');
    const arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      ensembles: [join(folder.path, "ensembles"), join(folder.path, "i*.toml"), join(folder.path, "none*.toml")],
    });
    const failed: unknown[] = [];
    arsenal.subscribe(({ data }) => failed.push(data), { names: ["ensemble-failed"] });
    const reports = await (await arsenal.start()).sources;
    expect(failed).toEqual([
      { ensemble: join(folder.path, "none*.toml"), message: expect.stringContaining("none*.toml has no ensemble.") },
      { ensemble: wrong, message: `${wrong}:4: defaults.timout is not a known key. Did you mean "timeout"?` },
    ]);
    expect(reports.map(({ name, error }) => error?.message ?? name)).toEqual([
      "b",
      expect.stringContaining("c.toml:4: defaults.timout"),
      "io",
    ]);
    const connected = next(arsenal, "ensemble-connected");
    folder.write(
      "ensembles/c.toml",
      '[ensemble]\nname = "c"\n[[invokers]]\nsource = "../io/invokers/read_file.toml"\n',
    );
    expect(await connected).toEqual({ ensemble: "c", tools: 1 });
    await arsenal.close();
  });

  it("are a problem of their own when an MCP server has the name", async () => {
    const server = `mcp: { servers: [{ name: io, type: stdio, command: ${process.execPath}, args: ["-e", "0"] }] }`;
    await using arsenal = await ToolArsenal.fromConfig(configure(`ensembles: [io.toml]\n${server}`));
    const reports = await (await arsenal.start()).sources;
    expect(reports[1]?.error?.message).toContain('There is already an ensemble named "io"');
  });

  it("are checked by doctor, with every problem and the tools that nothing runs", async () => {
    folder.write("io/invokers/write_file.toml", WRITE_FILE_TOML.replace('"string"', '"strin"'));
    folder.write("bad.toml", "[ensemble]\n");
    configure("ensembles: [io.toml, bad.toml]");
    const ran = await run("doctor", "--running", "--json");
    const { findings } = JSON.parse(ran.out) as { findings: { check: string; state: string; message: string }[] };
    const about = (check: string) =>
      findings.filter((each) => each.check === check).map(({ state, message }) => [state, message]);
    expect(about("io")).toEqual([["ok", `1 tool from ${join(folder.path, "io.toml")}`]]);
    expect(about("io.write_file")).toEqual([["failed", expect.stringContaining("write_file.toml:9")]]);
    expect(about("io.read_file")).toEqual([["warning", "can be found but not run: no handler"]]);
    expect(about(join(folder.path, "bad.toml"))).toEqual([["failed", expect.stringContaining("bad.toml:1")]]);
    expect(ran.code).toBe(1);
  });

  it("are found and called from the command line", async () => {
    configure("ensembles: [io.toml]");
    expect((await run("list", "--source", "descriptor")).out).toContain("io.write_file");
    const { out, code } = await run("call", "io.write_file", "--args", '{"path":"/a","text":"x"}');
    expect([out.includes('"io.write_file"'), code]).toEqual([true, 0]);
  });
});

describe("import descriptor", () => {
  it("prints one line a tool, and one on stderr for each that is left out, and runs no module", async () => {
    folder.write("io/handlers.mjs", "throw new Error('was run');");
    folder.write("io/invokers/read_file.toml", READ_FILE_TOML.replace("[arguments]", "[argument]"));
    const ran = await run("import", "descriptor", "io.toml");
    const tool = JSON.parse(ran.out) as object;
    expect(tool).toMatchObject({
      id: "io.write_file",
      name: "write_file",
      namespace: "io",
      description: "Writes text to a file",
      parameters: { type: "object", required: ["path", "text"] },
    });
    expect(ran.err).toMatch(
      /^Skipped: io\.read_file: .*read_file\.toml:6: argument is not a known key\. Did you mean "arguments"\?/,
    );
    expect(ran.code).toBe(0);
    expect((await run("import", "descriptor", "io.toml", "--name", "files")).out).toContain('"files.write_file"');
  });

  it("exits 2 when the file is not an ensemble", async () => {
    folder.write("x.toml", IO_TOML.replace("[ensemble]", "[group]"));
    expect(await run("import", "descriptor", "x.toml")).toMatchObject({ code: 2, out: "" });
    expect((await run("import", "descriptor", "none.toml")).code).toBe(2);
  });
});
