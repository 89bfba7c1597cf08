import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqliteState } from "../../adapters/state/sqlite.ts";
import { approvalsFolder, pruneApprovals } from "./local-approvals.ts";

const DAY_MS = 86_400_000;
let home: string;
let folder: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "arsenal-home-"));
  folder = approvalsFolder({ HOME: home }) ?? "";
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true }));

/** Keeps something in an approvals file that was last written so many days ago. */
async function fileOf(name: string, days: number, isOpen = false): Promise<() => Promise<void>> {
  const file = join(folder, `${name}.sqlite`);
  const state = sqliteState({ file });
  await state.documents.set("approval:1", {});
  if (!isOpen) await state.close();
  const at = new Date(Date.now() - days * DAY_MS);
  for (const path of [file, `${file}-wal`]) if (existsSync(path)) utimesSync(path, at, at);
  return () => state.close();
}

describe("approval files in the home folder", () => {
  it("are removed when nothing was written to them for 30 days, unless a gateway has them open", async () => {
    await fileOf("old", 31);
    await fileOf("young", 29);
    const close = await fileOf("open", 31, true);
    pruneApprovals({ HOME: home });
    expect(readdirSync(folder).filter((name) => name.endsWith(".sqlite"))).toEqual(["open.sqlite", "young.sqlite"]);
    expect(readdirSync(folder).filter((name) => name.startsWith("old"))).toEqual([]);
    await close();
  });

  it("may not be there at all", () => {
    rmSync(folder, { recursive: true });
    expect(() => pruneApprovals({ HOME: home })).not.toThrow();
    expect(() => pruneApprovals({})).not.toThrow();
  });

  it("are left alone if their folder cannot be listed", () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    expect(() => pruneApprovals({ HOME: home })).not.toThrow();
  });
});
