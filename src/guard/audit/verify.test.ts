import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chain, EMPTY_LOG } from "./chain.ts";
import { linesOf, verify } from "./verifier.ts";

const MEBIBYTE = 1024 * 1024;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "verify-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function written(...parts: readonly string[]): string {
  const file = join(folder, "log.jsonl");
  writeFileSync(file, parts.join(""));
  return file;
}

/** Each line as its length, and whether it is whole. */
async function lengths(file: string): Promise<readonly (readonly [number, boolean])[]> {
  const found: (readonly [number, boolean])[] = [];
  for await (const { bytes, whole } of linesOf(file)) found.push([bytes.length, whole]);
  return found;
}

describe("the lines of a file", () => {
  it("come without their breaks, empty ones too, over the edges of what is read at once", async () => {
    const file = written("\n", "ab\n", "x".repeat(200_000), "\n", "yz\n");
    expect(await lengths(file)).toEqual([
      [0, true],
      [2, true],
      [200_000, true],
      [2, true],
    ]);
  });

  it("say that the last one was cut off", async () => {
    expect(await lengths(written("ab\n", "cd"))).toEqual([
      [2, true],
      [2, false],
    ]);
  });

  it("may be as long as 16 MiB, wherever they begin", async () => {
    expect(await lengths(written("x".repeat(16 * MEBIBYTE), "\n"))).toEqual([[16 * MEBIBYTE, true]]);
    expect(await lengths(written("x".repeat(65_000), "\n", "x".repeat(16 * MEBIBYTE), "\n"))).toEqual([
      [65_000, true],
      [16 * MEBIBYTE, true],
    ]);
  });

  it("are not read on where one is longer, so that no file takes more memory", async () => {
    const [only, ...others] = await lengths(written("x".repeat(18 * MEBIBYTE), "\n", "ab\n"));
    expect(only?.[1]).toBe(false);
    expect(only?.[0]).toBeLessThan(17 * MEBIBYTE);
    expect(others).toEqual([]);
  });
});

describe("verify", () => {
  it("names the file and the line that is not whole", async () => {
    const first = chain({ kind: "gap", records: 2 }, EMPTY_LOG, 5);
    const second = chain({ kind: "gap", records: 3 }, first.head, 6);
    expect(await verify([written(first.line, second.line)])).toMatchObject({ ok: true, records: 2 });
    const file = written(first.line, second.line.trimEnd());
    const verification = await verify([file]);
    expect(verification).toMatchObject({ ok: false, seq: 2, file, line: 2 });
    expect(verification).toHaveProperty(
      "reason",
      expect.stringContaining("is incomplete: the write or the file was cut off"),
    );
  });
});
