import { execFileSync } from "node:child_process";
import {
  chmodSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFileRoots } from "./file-roots.ts";

const textOf = ({ bytes }: { readonly bytes: Uint8Array }): string => new TextDecoder().decode(bytes);

/** `inside` may be used; `outside` and `inside-out`, whose name begins the same, may not. */
let base = "";
let inside = "";
let outside = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "roots-")));
  inside = join(base, "inside");
  outside = join(base, "outside");
  for (const folder of [inside, outside, `${inside}-out`, join(inside, "sub")]) mkdirSync(folder);
  writeFileSync(join(inside, "a.txt"), "inside");
  writeFileSync(join(outside, "secret.txt"), "secret");
  writeFileSync(join(`${inside}-out`, "secret.txt"), "secret");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const LIMIT = { maxBytes: 100 };
const read = async (path: string): Promise<string> => textOf(await createFileRoots([inside]).read(path, LIMIT));
const write = (path: string, text = "new") => createFileRoots([inside]).write(path, Buffer.from(text), LIMIT);
const DENIED = { code: "PERMISSION_DENIED" };

describe("file roots [002-security-paths]", () => {
  it("reads below a folder, by paths from it and by whole ones", async () => {
    expect(await read("a.txt")).toBe("inside");
    expect(await read("./a.txt")).toBe("inside");
    expect(await read(join(inside, "a.txt"))).toBe("inside");
  });

  it("takes several folders, and a folder that is itself a link", async () => {
    symlinkSync(outside, join(base, "alias"));
    const roots = createFileRoots([inside, join(base, "alias")]);
    const { path, bytes } = await roots.read(join(base, "alias", "secret.txt"), LIMIT);
    expect([path, bytes.toString()]).toEqual([join(outside, "secret.txt"), "secret"]);
    expect(textOf(await roots.read(join(inside, "a.txt"), LIMIT))).toBe("inside");
  });

  it.each([
    ["a step up", () => "../outside/secret.txt"],
    ["a step up in the middle", () => "sub/../../outside/secret.txt"],
    ["a step up that stays inside", () => "sub/../a.txt"],
    ["a step up with backslashes", () => "sub\\..\\a.txt"],
    ["a whole path", () => join(outside, "secret.txt")],
    ["a folder whose name begins the same", () => join(`${inside}-out`, "secret.txt")],
    ["what is not there", () => join(outside, "nothing.txt")],
  ])("refuses %s, to read and to write", async (_what, path) => {
    await expect(read(path())).rejects.toMatchObject(DENIED);
    await expect(write(path())).rejects.toMatchObject(DENIED);
    expect(existsSync(join(outside, "nothing.txt"))).toBe(false);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });

  it("refuses links out of the folder, on the last step and before it", async () => {
    symlinkSync(join(outside, "secret.txt"), join(inside, "file-link"));
    symlinkSync(outside, join(inside, "folder-link"));
    symlinkSync(join(outside, "not-yet.txt"), join(inside, "dangling"));
    for (const path of ["file-link", "folder-link/secret.txt", "folder-link/new.txt", "folder-link/deep/new.txt"]) {
      await expect(read(path)).rejects.toMatchObject(DENIED);
      await expect(write(path)).rejects.toMatchObject(DENIED);
    }
    await expect(write("dangling")).rejects.toThrow("is not a file");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });

  it("follows links that stay inside", async () => {
    symlinkSync("a.txt", join(inside, "alias"));
    expect(await read("alias")).toBe("inside");
    expect(await write("alias", "changed")).toEqual({ path: join(inside, "a.txt"), created: false });
    expect(await read("a.txt")).toBe("changed");
  });

  it.each(["", "a\0b", 7 as unknown as string])("refuses %j, which is not a path", async (path) => {
    const fix = "Give a path below the allowed folders.";
    await expect(read(path)).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: expect.stringMatching(/ is not a path\. Give a path below the allowed folders\.$/),
      details: { field: "path", value: path, fix },
    });
  });

  it("says what to do about a path that leads outside", async () => {
    const fix = "Use a path below the allowed folders, without '..'.";
    await expect(read("../x")).rejects.toMatchObject({
      message: `"../x" is refused: it is, or leads, outside the allowed folders. ${fix}`,
      details: { field: "path", value: "../x", fix },
    });
  });

  it("says which folders cannot be used, and uses them once they are there", async () => {
    const folders = [join(base, "later"), inside];
    const roots = createFileRoots(folders);
    const fix = "Create it, or name another one.";
    await expect(roots.read(join(inside, "a.txt"), LIMIT)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `One of the allowed folders cannot be used: ${folders.join(", ")}. ${fix}`,
      details: { field: "roots", fix },
    });
    mkdirSync(join(base, "later"));
    expect(textOf(await roots.read(join(inside, "a.txt"), LIMIT))).toBe("inside");
  });

  it("writes nothing in the folder around a file that is named in place of one", async () => {
    const file = join(inside, "a.txt");
    await expect(createFileRoots([file]).write(file, Buffer.from("new"), LIMIT)).rejects.toMatchObject(DENIED);
    expect(readFileSync(file, "utf8")).toBe("inside");
  });

  it("refuses links that lead to each other", async () => {
    symlinkSync("two", join(inside, "one"));
    symlinkSync("one", join(inside, "two"));
    await expect(read("one")).rejects.toMatchObject(DENIED);
    await expect(write("one")).rejects.toMatchObject(DENIED);
  });

  it.each([
    ["EISDIR", '"a.txt" is not a file. Name a file.'],
    ["ENXIO", '"a.txt" is not a file. Name a file.'],
    ["EACCES", '"a.txt" may not be opened. Change its permissions, or use another file.'],
    ["EPERM", '"a.txt" may not be opened. Change its permissions, or use another file.'],
    ["ENOENT", '"a.txt" does not exist. Check the path.'],
  ])("says what %s of the system means", async (code, message) => {
    const cause = Object.assign(new Error(code), { code });
    const roots = createFileRoots([inside], { open: () => Promise.reject(cause) });
    const told = { code: "EXECUTION_FAILED", message, details: { field: "path", answered: true } };
    await expect(roots.read("a.txt", LIMIT)).rejects.toMatchObject(told);
    await expect(roots.write("a.txt", Buffer.from("new"), LIMIT)).rejects.toMatchObject(told);
  });

  it("leaves no file open, whether or not it could be used", async () => {
    const opened: Awaited<ReturnType<typeof open>>[] = [];
    const noting: typeof open = async (...given: Parameters<typeof open>) => {
      const file = await open(...given);
      opened.push(file);
      return file;
    };
    const roots = createFileRoots([inside], { open: noting });
    await roots.read("a.txt", LIMIT);
    await roots.write("a.txt", Buffer.from("new"), LIMIT);
    await expect(roots.read("sub", LIMIT)).rejects.toThrow("is not a file");
    // What is closed has no descriptor.
    expect(opened.map(({ fd }) => fd)).toEqual([-1, -1, -1]);
  });

  it("writes a file whose name is as long as the system takes", async () => {
    const name = "n".repeat(250);
    expect(await write(name)).toEqual({ path: join(inside, name), created: true });
  });

  it("has no folder where none is given", async () => {
    await expect(createFileRoots([]).read(join(inside, "a.txt"), LIMIT)).rejects.toMatchObject(DENIED);
  });

  it("never leaves the folder, whatever a path is made of", async () => {
    symlinkSync(outside, join(inside, "out"));
    const step = fc.constantFrom("..", ".", "sub", "out", "a.txt", "secret.txt", "", "outside", base.slice(1), "~");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), fc.boolean(), async (steps, whole) => {
        const path = `${whole ? "/" : ""}${steps.join("/")}`;
        const got = await read(path).catch(() => "refused");
        expect(["refused", "inside"]).toContain(got);
      }),
    );
  });

  it("says what is wrong with a file, without saying what is elsewhere", async () => {
    await expect(read("nothing.txt")).rejects.toThrow('"nothing.txt" does not exist. Check the path.');
    await expect(read("sub")).rejects.toThrow('"sub" is not a file. Name a file.');
    await expect(read("a.txt/b")).rejects.toThrow("is not a file");
    await expect(write("sub")).rejects.toThrow('"sub" is not a file. Name a file.');
  });

  // because Windows has no named pipes among files.
  it.skipIf(process.platform === "win32")("does not wait for a pipe", async () => {
    execFileSync("mkfifo", [join(inside, "pipe")]);
    await expect(read("pipe")).rejects.toThrow("is not a file");
    await expect(write("pipe")).rejects.toThrow("is not a file");
  });

  it("reads and writes no more than allowed, even of a file that states no length", async () => {
    writeFileSync(join(inside, "fits"), "x".repeat(100));
    writeFileSync(join(inside, "long"), "x".repeat(101));
    expect((await read("fits")).length).toBe(100);
    expect(await write("fits", "y".repeat(100))).toMatchObject({ created: false });
    await expect(read("long")).rejects.toMatchObject({
      code: "EXECUTION_FAILED",
      message: '"long" is longer than 100 bytes. Use a smaller file, or raise the limit.',
      details: { field: "path", fix: "Use a smaller file, or raise the limit.", answered: true },
    });
    await expect(write("new", "x".repeat(101))).rejects.toThrow("longer than 100 bytes");
    expect(existsSync(join(inside, "new"))).toBe(false);
    if (process.platform === "linux")
      await expect(createFileRoots(["/proc/self"]).read("/proc/self/environ", { maxBytes: 5 })).rejects.toThrow(
        "longer than 5 bytes",
      );
  });

  it("writes a file as a whole, keeps its mode, and makes the folders on the way", async () => {
    chmodSync(join(inside, "a.txt"), 0o640);
    expect(await write("a.txt", "second")).toEqual({ path: join(inside, "a.txt"), created: false });
    expect(statSync(join(inside, "a.txt")).mode & 0o777).toBe(0o640);
    expect(await write("deep/er/b.txt")).toEqual({ path: join(inside, "deep", "er", "b.txt"), created: true });
    expect(readFileSync(join(inside, "deep", "er", "b.txt"), "utf8")).toBe("new");
    expect(readdirSync(inside).sort()).toEqual(["a.txt", "deep", "sub"]);
  });

  it("replaces a name, and does not write through a second one for the same file", async () => {
    linkSync(join(outside, "secret.txt"), join(inside, "hard-link"));
    await write("hard-link", "mine");
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });

  describe("while somebody exchanges what lies there", () => {
    /** Opens as Node does, after `before` and followed by `after`: what another program may do between the check and the opening. */
    const racing = (before: () => void, after = (): void => {}): typeof open => {
      return async (...given: Parameters<typeof open>) => {
        before();
        const file = await open(...given);
        after();
        return file;
      };
    };
    const away = (): void => {
      renameSync(join(inside, "sub"), join(inside, "was"));
      symlinkSync(outside, join(inside, "sub"));
    };
    const back = (): void => {
      rmSync(join(inside, "sub"));
      renameSync(join(inside, "was"), join(inside, "sub"));
    };

    it("reads no file that became a link", async () => {
      const swap = (): void => {
        rmSync(join(inside, "a.txt"));
        symlinkSync(join(outside, "secret.txt"), join(inside, "a.txt"));
      };
      await expect(createFileRoots([inside], { open: racing(swap) }).read("a.txt", LIMIT)).rejects.toMatchObject(
        DENIED,
      );
    });

    it("never asks the system to follow the last step", async () => {
      const asked: unknown[] = [];
      const noting: typeof open = (...given: Parameters<typeof open>) => {
        asked.push(Number(given[1]) & constants.O_NOFOLLOW);
        return open(...given);
      };
      const roots = createFileRoots([inside], { open: noting });
      await roots.read("a.txt", LIMIT);
      await roots.write("a.txt", Buffer.from("new"), LIMIT);
      expect(asked).toEqual([constants.O_NOFOLLOW, constants.O_NOFOLLOW]);
    });

    it.each([
      ["stays", undefined],
      ["is gone again", back],
    ])("reads nothing through a folder that became a link which %s", async (_what, after) => {
      writeFileSync(join(inside, "sub", "secret.txt"), "mine");
      const roots = createFileRoots([inside], { open: racing(away, after) });
      await expect(roots.read("sub/secret.txt", LIMIT)).rejects.toMatchObject(DENIED);
    });

    it.each([
      ["stays", undefined],
      ["is gone again", back],
    ])("writes nothing through a folder that became a link which %s", async (_what, after) => {
      const roots = createFileRoots([inside], { open: racing(away, after) });
      await expect(roots.write("sub/secret.txt", Buffer.from("new"), LIMIT)).rejects.toMatchObject(DENIED);
      expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
    });
  });
});
