import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../observe/clock.ts";
import { fileTexts, type WatchedConfig, watchConfig } from "./watch-files.ts";

let folder: string;
let watched: WatchedConfig | undefined;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterEach(async () => {
  await watched?.close();
  await rm(folder, { recursive: true });
});

/** Counts calls; `next` resolves at the following one. */
function counter(): { calls: number; readonly next: () => Promise<void>; readonly onChange: () => void } {
  let resume: (() => void) | undefined;
  return {
    calls: 0,
    next: () => new Promise((resolve) => void (resume = resolve)),
    onChange() {
      this.calls += 1;
      resume?.();
    },
  };
}

async function watching(file: string): Promise<ReturnType<typeof counter>> {
  const count = counter();
  watched = await watchConfig([file], { onChange: () => count.onChange(), quietMs: 5 });
  return count;
}

describe("a watched configuration", () => {
  it("is told of when it is written in place", async () => {
    const file = join(folder, "arsenal.yaml");
    await writeFile(file, "a: 1");
    const count = await watching(file);
    const changed = count.next();
    await writeFile(file, "a: 2");
    await changed;
    expect(count.calls).toBe(1);
  });

  it("is told of when it changed after it was read and before it was watched", async () => {
    const file = join(folder, "arsenal.yaml");
    await writeFile(file, "a: 1");
    const known = await fileTexts([file]);
    await writeFile(file, "a: 2");
    const count = counter();
    const changed = count.next();
    watched = await watchConfig([file], { onChange: () => count.onChange(), quietMs: 5, known });
    await changed;
    expect(count.calls).toBe(1);
  });

  it("is told of when an editor renames a new file over it, twice", async () => {
    const file = join(folder, "arsenal.yaml");
    await writeFile(file, "a: 1");
    const count = await watching(file);
    for (const text of ["a: 2", "a: 3"]) {
      const changed = count.next();
      await writeFile(`${file}~`, text);
      await rename(`${file}~`, file);
      await changed;
    }
    expect(count.calls).toBe(2);
  });

  it("is told of when it goes away and when it comes", async () => {
    const file = join(folder, "arsenal.yaml");
    const count = await watching(file);
    const came = count.next();
    await writeFile(file, "a: 1");
    await came;
    const gone = count.next();
    await rm(file);
    await gone;
    expect(count.calls).toBe(2);
  });

  it("is told of when the volume it lies on is swapped", async () => {
    for (const version of ["1", "2"]) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, "arsenal.yaml"), `a: ${version}`);
    }
    await symlink("1", join(folder, "..data"));
    const file = join(folder, "arsenal.yaml");
    await symlink(join("..data", "arsenal.yaml"), file);
    const count = await watching(file);
    const changed = count.next();
    await symlink("2", join(folder, "..new"));
    await rename(join(folder, "..new"), join(folder, "..data"));
    await changed;
    expect(count.calls).toBe(1);
  });

  it.each([
    ["has the same text as before", "arsenal.yaml", "a: 1"],
    ["is another one", "other.yaml", "a: 2"],
  ])("is not told of when the file written %s", async (_what, name, text) => {
    await writeFile(join(folder, "arsenal.yaml"), "a: 1");
    await writeFile(join(folder, "last.yaml"), "");
    const [looks, count] = [counter(), counter()];
    const clock: Clock = {
      now: () => 0,
      after(_ms, callback) {
        callback();
        looks.onChange();
        return () => {};
      },
    };
    const files = [join(folder, "arsenal.yaml"), join(folder, "last.yaml")];
    const own = await watchConfig(files, { onChange: () => count.onChange(), clock });
    const looked = looks.next();
    await writeFile(join(folder, name), text);
    // Events come in order: once the last one was looked at, so was the first.
    if (name === "other.yaml") await writeFile(join(folder, "last.yaml"), "");
    await looked;
    await own.close();
    expect(count.calls).toBe(0);
  });

  it("is told of where a person asks for it, changed or not", async () => {
    const file = join(folder, "arsenal.yaml");
    await writeFile(file, "a: 1");
    const count = await watching(file);
    const asked = count.next();
    watched?.reload();
    await asked;
    expect(count.calls).toBe(1);
  });

  it("waits for one change to be taken in before it tells of the next, and for the last when it is closed", async () => {
    const file = join(folder, "arsenal.yaml");
    await writeFile(file, "a: 1");
    const steps: string[] = [];
    const release: (() => void)[] = [];
    const started = counter();
    watched = await watchConfig([file], {
      quietMs: 5,
      async onChange() {
        steps.push("start");
        started.onChange();
        await new Promise<void>((resolve) => release.push(resolve));
        steps.push("end");
      },
    });
    const first = started.next();
    watched.reload();
    watched.reload();
    await first;
    const second = started.next();
    release.shift()?.();
    await second;
    expect(steps).toEqual(["start", "end", "start"]);
    const closing = watched.close();
    release.shift()?.();
    await closing;
    expect(steps.at(-1)).toBe("end");
  });

  it("says so where the folder cannot be watched", async () => {
    const failures: Error[] = [];
    const nowhere = join(folder, "nowhere", "arsenal.yaml");
    watched = await watchConfig([nowhere], { onChange() {}, onFailure: (error) => failures.push(error) });
    expect(failures).toMatchObject([{ code: "ENOENT" }]);
  });
});
