import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createDescriptorFolder,
  type DescriptorFolder,
  IO_TOML,
  READ_FILE_TOML,
} from "../../../../test/ensembles/descriptor-folder.ts";
import { internalsOf, ToolArsenal } from "../../../arsenal.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { ArsenalEvent, EventName } from "../../../observe/events.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { descriptorSource } from "./descriptor.ts";
import type { Invocables } from "./invocable.ts";

/** What the quiet time of an edit is measured by; a test need not wait that long. */
const hasty: Clock = { ...systemClock, after: (_ms, callback, options) => systemClock.after(1, callback, options) };

const clock = createManualClock();
let folder: DescriptorFolder;
let arsenal: ToolArsenal;
beforeEach(() => {
  folder = createDescriptorFolder();
  arsenal = new ToolArsenal({ telemetry: { enabled: false }, clock });
});
afterEach(async () => {
  await arsenal.close();
  folder.remove();
});

const ids = (): readonly string[] =>
  internalsOf(arsenal)
    .ensembleTools("io")
    .map(({ id }) => id)
    .sort();

async function add(handlers: Invocables = {}): Promise<void> {
  await arsenal.add(await descriptorSource({ file: join(folder.path, "io.toml"), handlers }, { clock: hasty }));
  // Those of the first listing are not those of an edit.
  await arsenal.sync();
}

/** Makes an edit and resolves to the first event of that name which it causes. */
async function eventAfter(name: EventName, edit: () => unknown): Promise<ArsenalEvent["data"]> {
  const { promise, resolve } = Promise.withResolvers<ArsenalEvent["data"]>();
  const end = arsenal.subscribe((event) => {
    if (event.name === name) resolve(event.data);
  });
  edit();
  const data = await promise;
  end();
  return data;
}

describe("a descriptor that changes", () => {
  it("is read again when an invoker is edited in place", async () => {
    await add();
    const edited = READ_FILE_TOML.replace("Reads contents of a file", "Reads a file and returns its text");
    await eventAfter("tool-replaced", () => folder.write("io/invokers/read_file.toml", edited));
    expect((await arsenal.getTool("read_file", "io"))?.description).toBe("Reads a file and returns its text");
  });

  it("is read again when an editor renames a new file over it, and again after that", async () => {
    await add();
    for (const description of ["Reads the first text", "Reads the second text"]) {
      const next = folder.write("io/next", READ_FILE_TOML.replace("Reads contents of a file", description));
      await eventAfter("tool-replaced", () => renameSync(next, join(folder.path, "io/invokers/read_file.toml")));
      expect((await arsenal.getTool("read_file", "io"))?.description).toBe(description);
    }
  });

  it("gains and loses invokers, and follows the files of the new ones", async () => {
    await add();
    folder.write("more/list.toml", READ_FILE_TOML.replace("read_file", "list_directory"));
    const added = `${IO_TOML}[[invokers]]\nsource = "more/list.toml"\n`;
    await eventAfter("tool-registered", () => folder.write("io.toml", added));
    expect(ids()).toEqual(["io.list_directory", "io.read_file", "io.write_file"]);
    await eventAfter("tool-deleted", () =>
      folder.write("more/list.toml", READ_FILE_TOML.replace("enabled = true", "enabled = false")),
    );
    expect(ids()).toEqual(["io.read_file", "io.write_file"]);
    await eventAfter("tool-deleted", () =>
      folder.write("io.toml", IO_TOML.replace("enabled = true", "enabled = false")),
    );
  });

  it("brings an invoker whose file was missing when the file comes", async () => {
    const file = join(folder.path, "io/invokers/read_file.toml");
    rmSync(file);
    await add();
    expect(ids()).toEqual(["io.write_file"]);
    await eventAfter("tool-registered", () => folder.write("io/invokers/read_file.toml", READ_FILE_TOML));
    expect(ids()).toEqual(["io.read_file", "io.write_file"]);
  });

  it("keeps an invoker as it was, and reports file, line and key, when an edit of it is wrong", async () => {
    await add();
    const wrong = READ_FILE_TOML.replace('type = "object"', 'type = "array"');
    const told = await eventAfter("tool-rejected", () => folder.write("io/invokers/read_file.toml", wrong));
    expect(told).toMatchObject({
      name: "io.read_file",
      message: expect.stringContaining('read_file.toml:7: arguments.type must be "object".'),
    });
    expect(ids()).toEqual(["io.read_file", "io.write_file"]);
    expect((await arsenal.getTool("read_file", "io"))?.parameters.type).toBe("object");
  });

  it("stays as it was, and reports file, line and key, when an edit of the ensemble is wrong", async () => {
    await add();
    for (const [wrong, problem] of [
      [IO_TOML.replace("timeout = 30", "timeout = -1"), "io.toml:6: defaults.timeout must be a number of seconds"],
      [IO_TOML.replace('"io"', '"oi"'), 'io.toml:2: ensemble.name was "io" when it was loaded.'],
    ] as const) {
      const told = await eventAfter("ensemble-failed", () => folder.write("io.toml", wrong));
      expect(told).toMatchObject({ ensemble: "io", message: expect.stringContaining(problem) });
      expect(ids()).toEqual(["io.read_file", "io.write_file"]);
    }
    await eventAfter("tool-deleted", () =>
      folder.write("io.toml", IO_TOML.replace(/\[\[invokers\]\]\nsource = "[^"]*read.*\n/, "")),
    );
    expect(ids()).toEqual(["io.write_file"]);
  });

  it("runs the new function when the module of a handler is edited, also one that could not be loaded", async () => {
    await add();
    const write = async (): Promise<unknown> =>
      (await arsenal.execute({ toolName: "io.write_file", arguments: { path: "/a", text: "x" } })).result;
    expect(await write()).toEqual(["write_file", "io.write_file", "/a"]);
    await eventAfter("ensemble-listed", () =>
      folder.write("io/handlers.mjs", "export const writeFile = () => 'second';"),
    );
    expect(await write()).toBe("second");
    await eventAfter("tool-rejected", () => folder.write("io/handlers.mjs", "export const writeFile = () => (;"));
    expect(await write()).toBe("second");
    await eventAfter("ensemble-listed", () =>
      folder.write("io/handlers.mjs", "export const writeFile = () => 'third';"),
    );
    expect(await write()).toBe("third");
  });

  it("lets a call under way finish as it began", async () => {
    const started = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<string>();
    await add({ read_file: () => (started.resolve(), answer.promise) });
    const call = arsenal.execute({ toolName: "io.read_file", arguments: { path: "/a" } });
    await started.promise;
    const gone = IO_TOML.replace(/\[\[invokers\]\]\nsource = "[^"]*read.*\n/, "");
    await eventAfter("tool-deleted", () => folder.write("io.toml", gone));
    answer.resolve("the old text");
    expect(await call).toMatchObject({ status: "success", result: "the old text" });
  });

  it("takes its new defaults for the next call", async () => {
    await add({ read_file: ({ deadline = 0 }) => deadline - clock.now() });
    const timeout = async (): Promise<unknown> =>
      (await arsenal.execute({ toolName: "io.read_file", arguments: { path: "/a" } })).result;
    expect(await timeout()).toBe(30_000);
    const edited = READ_FILE_TOML.replace("Reads contents", "Reads all contents");
    folder.write("io.toml", IO_TOML.replace("timeout = 30", "timeout = 90"));
    await eventAfter("tool-replaced", () => folder.write("io/invokers/read_file.toml", edited));
    expect(await timeout()).toBe(90_000);
  });
});
