import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeFolder, makeFolderSync } from "./make-folder.ts";

const root = mkdtempSync(join(tmpdir(), "arsenal-folder-"));
afterAll(() => rmSync(root, { recursive: true }));
writeFileSync(join(root, "file"), "");

const ways: readonly (readonly [name: string, make: (folder: string, mode?: number) => Promise<void>])[] = [
  ["makeFolder", makeFolder],
  ["makeFolderSync", async (folder, mode) => makeFolderSync(folder, mode)],
];

describe.each(ways)("%s", (name, make) => {
  it("creates a folder with its parents, and accepts one that exists", async () => {
    const folder = join(root, name, "a", "b");
    await make(folder, 0o700);
    await make(folder, 0o700);
    expect(statSync(folder).isDirectory()).toBe(true);
    if (process.platform !== "win32") expect(statSync(join(root, name, "a")).mode & 0o777).toBe(0o700);
  });

  it("creates the same folder twice at once", async () => {
    const folder = join(root, name, "c", "d");
    await Promise.all([make(folder), make(folder)]);
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  it("refuses a folder in the place of a file, or below one", async () => {
    await expect(make(join(root, "file"))).rejects.toThrow("EEXIST");
    await expect(make(join(root, "file", "a"))).rejects.toThrow(/ENOTDIR|ENOENT/);
  });

  // because only Linux has /proc; Node's recursive mkdir never returns there.
  it.runIf(existsSync("/proc/self"))("ends below /proc", async () => {
    await expect(make("/proc/x/y")).rejects.toThrow("ENOENT");
  });
});
