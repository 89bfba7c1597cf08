import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFileRoots } from "./file-roots.ts";
import { createOwnFiles } from "./own-files.ts";

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "own-")));
  for (const name of ["tools", "data"]) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LIMIT = { maxBytes: 1_000 };

describe("the gateway's own files", () => {
  it.each([
    ["a file that is named", "audit.jsonl"],
    ["its key", "audit.jsonl.key"],
    ["the journal of a database", "audit.jsonl-wal"],
    ["another spelling of its name", "AUDIT.jsonl"],
    ["everything below a folder that is named", "data/deep/file.txt"],
    ["what a pattern matches", "tools/mail.py"],
    ["what a pattern may match later, in a folder below", "tools/new/lib.py"],
    ["the configuration", "arsenal.yaml"],
    ["an environment file", "data2/.env.local"],
    ["the folder of state and keys", "x/.toolarsenal/api-keys.json"],
  ])("are refused to be read and written, there or not: %s", async (_, path) => {
    const paths = ["audit.jsonl", "data", "tools/**/*.py"].map((own) => join(folder, own));
    const roots = createFileRoots([folder], { isOwnFile: createOwnFiles(paths) });
    const denied = { code: "PERMISSION_DENIED", message: expect.stringContaining("one of the gateway's own files") };
    await expect(roots.read(path, LIMIT)).rejects.toMatchObject(denied);
    await expect(roots.write(path, Buffer.from("mine"), LIMIT)).rejects.toMatchObject(denied);
  });

  it.each(["audit.txt", "data2/file.txt", "tools/mail.txt", "environment.txt", "toolarsenal.md"])(
    "leave files with other names alone: %s",
    async (path) => {
      const paths = ["audit.jsonl", "data", "tools/**/*.py"].map((own) => join(folder, own));
      const roots = createFileRoots([folder], { isOwnFile: createOwnFiles(paths) });
      await roots.write(path, Buffer.from("mine"), LIMIT);
      expect(Buffer.from((await roots.read(path, LIMIT)).bytes).toString()).toBe("mine");
    },
  );

  it("are recognised by another name: through links, and hard links", async () => {
    writeFileSync(join(folder, "audit.key"), "secret");
    symlinkSync(join(folder, "audit.key"), join(folder, "soft.txt"));
    linkSync(join(folder, "audit.key"), join(folder, "hard.txt"));
    const roots = createFileRoots([folder], { isOwnFile: createOwnFiles([join(folder, "audit.key")]) });
    for (const name of ["soft.txt", "hard.txt"])
      await expect(roots.read(name, LIMIT)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });
});
