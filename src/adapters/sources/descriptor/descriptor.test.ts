import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createDescriptorFolder,
  type DescriptorFolder,
  IO_TOML,
  READ_FILE_TOML,
} from "../../../../test/ensembles/descriptor-folder.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { ArsenalEvent } from "../../../observe/events.ts";
import { sourceContract } from "../../../testing/source.contract.ts";
import { type DescriptorSettings, type DescriptorSource, descriptorSource } from "./descriptor.ts";

let folder: DescriptorFolder;
let arsenal: ToolArsenal;
const events: ArsenalEvent[] = [];
beforeEach(() => {
  folder = createDescriptorFolder();
  events.length = 0;
  arsenal = new ToolArsenal({ telemetry: { enabled: false }, execution: { retryBaseMs: 0, retryBudget: 1 } });
  arsenal.subscribe((event) => void events.push(event));
});
afterEach(async () => {
  await arsenal.close();
  folder.remove();
});

const open = (settings: Omit<DescriptorSettings, "file"> = {}): Promise<DescriptorSource> =>
  descriptorSource({ file: join(folder.path, "io.toml"), ...settings });

async function add(settings: Omit<DescriptorSettings, "file"> = {}): Promise<DescriptorSource> {
  const source = await open(settings);
  await arsenal.add(source);
  return source;
}

const ids = async (): Promise<readonly string[]> => (await arsenal.listTools()).map(({ id }) => id);
const call = (name: string, args: Record<string, unknown>) =>
  arsenal.execute({ toolName: `io.${name}`, arguments: args, auxdata: { user: "ada" } });

describe("the descriptor source", () => {
  const made: DescriptorFolder[] = [];
  afterEach(() => {
    for (const each of made.splice(0)) each.remove();
  });
  for (const { name, run } of sourceContract(async () => {
    const own = createDescriptorFolder();
    made.push(own);
    return { adapter: await descriptorSource({ file: join(own.path, "io.toml") }) };
  }))
    it(name, run);
});

describe("an ensemble from TOML", () => {
  it("has the tools of its files, which are found from its own folder [001-configuration-tool] [001-configuration-ensemble] [001-configuration-relative]", async () => {
    const source = await add();
    expect(await ids()).toEqual(["io.read_file", "io.write_file"]);
    expect(await arsenal.getTool("read_file", "io")).toMatchObject({
      description: "Reads contents of a file",
      source: "descriptor",
      ensemble: "io",
      parameters: {
        type: "object",
        required: ["path"],
        properties: {
          path: { type: "string", description: "Absolute path to file" },
          encoding: { type: "string", description: "File encoding", default: "utf-8" },
        },
      },
    });
    expect(source).toMatchObject({ name: "io", configuration: { timeout: 30, maxRetries: 3 }, timeoutMs: 30_000 });
  });

  it("runs the function of a module with context and arguments; the ensemble's calls share a namespace", async () => {
    await add();
    await call("write_file", { path: "a", text: "1" });
    expect((await call("write_file", { path: "b", text: "2" })).result).toEqual([
      "write_file",
      "io.write_file",
      "a",
      "b",
    ]);
  });

  it("runs a function that is registered under the invoker's name, or under the one it names", async () => {
    const read = async (_context: unknown, args: object): Promise<object> => ({ ...args });
    await add({ handlers: { read_file: read } });
    expect((await call("read_file", { path: "/a" })).result).toEqual({ path: "/a", encoding: "utf-8" });
    await arsenal.remove("io");
    folder.write("io/invokers/read_file.toml", READ_FILE_TOML.replace("enabled", 'handler = "reader"\nenabled'));
    await add({ handlers: { reader: () => "read" } });
    expect((await call("read_file", { path: "/a" })).result).toBe("read");
    await arsenal.remove("io");
    await add({ handlers: { raeder: () => "read" } });
    expect((await call("read_file", { path: "/a" })).error?.message).toContain("or register handlers: { reader }.");
  });

  it("finds a tool without a handler, and says how to give it one when it is called", async () => {
    const source = await add();
    expect(source.withoutHandler).toEqual(["read_file"]);
    expect((await arsenal.retrieve({ context: { query: "read the contents of a file" } })).tools[0]?.tool.id).toBe(
      "io.read_file",
    );
    const { error } = await call("read_file", { path: "/a" });
    expect(error?.code).toBe("HANDLER_MISSING");
    expect(error?.message).toContain('Add handler = "./MODULE.ts#NAME" to [invoker] in ');
    expect(error?.message).toContain("io/invokers/read_file.toml, or register handlers: { read_file }.");
  });

  it("leaves out invokers and ensembles that are not enabled [001-configuration-disabled]", async () => {
    folder.write("io/invokers/read_file.toml", READ_FILE_TOML.replace("enabled = true", "enabled = false"));
    await add();
    expect(await ids()).toEqual(["io.write_file"]);
    await arsenal.remove("io");
    folder.write("io.toml", IO_TOML.replace("enabled = true", "enabled = false"));
    expect((await add()).enabled).toBe(false);
    expect(await ids()).toEqual([]);
  });

  it("gives a tool everything else that it says", async () => {
    const more = `title = "Read"
category = "files"
tags = ["disk"]
examples = ["show me notes.txt"]
timeout = 0.5
read_only = true
capabilities = ["file_system"]
risk_level = "medium"
required_scopes = ["files"]
requires_confirmation = true
version = "2.0.0"
`;
    folder.write("io/invokers/read_file.toml", READ_FILE_TOML.replace("\n[arguments]", `${more}\n[arguments]`));
    await add();
    expect(await arsenal.getTool("read_file", "io")).toMatchObject({
      title: "Read",
      category: "files",
      tags: ["disk"],
      examples: ["show me notes.txt"],
      timeoutMs: 500,
      annotations: { readOnly: true, confirmed: true },
      capabilities: ["file_system"],
      riskLevel: "medium",
      requiredScopes: ["files"],
      requiresConfirmation: true,
      version: "2.0.0",
    });
  });

  it("passes its defaults on: a tool that is safe to repeat is tried as often as the ensemble says", async () => {
    folder.write("io.toml", IO_TOML.replace("max_retries = 3", "max_retries = 2\nmax_concurrent = 4"));
    const safe = READ_FILE_TOML.replace("enabled", "read_only = true\nenabled");
    folder.write("io/invokers/read_file.toml", safe);
    const source = await add({
      handlers: { read_file: () => Promise.reject(new ArsenalError("TRANSPORT_FAILED", "connection reset")) },
    });
    expect(source).toMatchObject({ maxRetries: 2, maxConcurrent: 4 });
    expect((await call("read_file", { path: "/a" })).attempts).toBe(2);
  });

  it("leaves the modules of handlers alone when tools are only described", async () => {
    const source = await descriptorSource({ file: join(folder.path, "io.toml") }, { loadModules: false });
    await arsenal.add(source);
    expect(source.withoutHandler).toEqual(["read_file", "write_file"]);
  });
});

describe("a wrong ensemble file", () => {
  it.each([
    [
      "a text in place of a number",
      "timeout = 30",
      'timeout = "30"',
      '6: defaults.timeout must be a number of seconds from 0.1 to 300, not "30".',
    ],
    [
      "an unknown key",
      "max_retries",
      "max_retrys",
      '7: defaults.max_retrys is not a known key. Did you mean "max_retries"?',
    ],
    ["an unknown table", "[defaults]", "[default]", '5: default is not a known key. Did you mean "defaults"?'],
    [
      "no name",
      'name = "io"\n',
      "",
      "1: ensemble.name is missing; it must be a non-empty string. Add name to [ensemble].",
    ],
    [
      "no ensemble",
      "[ensemble]",
      "[group]",
      "1: ensemble is missing; it must be a table. Add ensemble to the file. (and 1 more problem)",
    ],
    [
      "a wrong key in an entry",
      'source = "io/invokers/write',
      'sorce = "io/invokers/write',
      "12: invokers.1.source is missing",
    ],
    [
      "a table in place of a value",
      'name = "io"',
      "[ensemble.name]",
      "2: ensemble.name must be a non-empty string, not {",
    ],
    [
      "too many retries",
      "max_retries = 3",
      "max_retries = 9",
      "7: defaults.max_retries must be a whole number from 0 to 5, not 9.",
    ],
    ["broken TOML", "timeout = 30", "timeout = ", '6:11: invalid TOML: invalid value. Fix "timeout =".'],
  ])("is refused with file, line and key: %s", async (_what, from, to, message) => {
    const file = folder.write("io.toml", IO_TOML.replace(from, to));
    await expect(open()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`${file}:${message}`),
    });
  });

  it("is refused with every problem at once", async () => {
    folder.write("io.toml", '[ensemble]\nname = 3\nenabled = "yes"\n[defaults]\ntimeout = 0\n');
    const error = await open().catch((thrown: unknown) => thrown as ArsenalError);
    expect((error as ArsenalError).details.issues?.map(({ field }) => field)).toEqual([
      "ensemble.name",
      "ensemble.enabled",
      "defaults.timeout",
    ]);
  });

  it("is refused when it is not there", async () => {
    await expect(descriptorSource({ file: join(folder.path, "no.toml") })).rejects.toThrow(
      "no.toml cannot be read: ENOENT",
    );
  });
});

describe("a wrong invoker", () => {
  const file = (): string => join(folder.path, "io/invokers/read_file.toml");

  it.each([
    [
      "a wrong type",
      'type = "string"\ndescription = "Absolute',
      'type = "strin"\ndescription = "Absolute',
      '11: arguments.properties.path.type must be a type of JSON Schema, but is "strin". Fix the schema.',
    ],
    ["an array as arguments", 'type = "object"', 'type = "array"', '7: arguments.type must be "object". Describe'],
    ["a wrong required", '["path"]', '"path"', "8: arguments.required must be a list of parameter names."],
    [
      "an unknown key",
      'description = "Reads',
      'descripton = "Reads',
      '4: invoker.descripton is not a known key. Did you mean "description"?',
    ],
    ["a reserved name", '"read_file"', '"execute"', "2: invoker.name is reserved"],
    ["an unknown capability", "enabled = true", 'capabilities = ["fly"]', "3: invoker.capabilities"],
    [
      "a module that is not there",
      "enabled = true",
      'handler = "./no.ts#x"',
      '3: invoker.handler "./no.ts#x" cannot be loaded: ',
    ],
    [
      "a function that is not there",
      "enabled = true",
      'handler = "../handlers.mjs#readFil"',
      '3: invoker.handler "../handlers.mjs#readFil" is not a function that the module exports. Did you mean "../handlers.mjs#readFile"?',
    ],
    ["the name of another", '"read_file"', '"write_file"', "2: invoker.name"],
    ["broken TOML", "[arguments]", "[arguments", "6:11: invalid TOML"],
  ])(
    "is left out and reported with file, line and key, and the others are used: %s",
    async (what, from, to, message) => {
      folder.write("io/invokers/read_file.toml", READ_FILE_TOML.replace(from, to));
      const isClash = what === "the name of another";
      const source = await add();
      expect(await ids()).toEqual(["io.write_file"]);
      const wrong = isClash ? join(folder.path, "io/invokers/write_file.toml") : file();
      expect(source.problems.map(({ error }) => error.message)).toEqual([
        expect.stringContaining(`${wrong}:${message}`),
      ]);
      await arsenal.close(); // hands over every event
      const told = events.filter(({ name }) => name === "tool-rejected").map(({ data }) => data);
      expect(told).toEqual([
        {
          name: isClash ? "io.write_file" : "io.read_file",
          code: "TOOL_INVALID",
          message: source.problems[0]?.error.message,
        },
      ]);
    },
  );

  it("is reported at the line that names it when its file is missing", async () => {
    folder.write("io.toml", IO_TOML.replace("read_file.toml", "raed_file.toml"));
    const source = await add();
    expect(await ids()).toEqual(["io.write_file"]);
    expect(source.problems[0]?.error.message).toContain("io.toml:10: invokers.0.source cannot be read: ENOENT");
  });
});
