import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withRouting } from "./tune.ts";
import { type Ran, runInMemory } from "../../../../test/e2e/terminal.ts";

const THINGS = "invoice parcel flight photo ticket customer calendar folder contract payment".split(" ");
const VERBS = "create delete search".split(" ");
const TOOLS = THINGS.flatMap((thing) =>
  VERBS.map((verb) => {
    return { id: `${verb}_${thing}`, name: `${verb}_${thing}`, description: `Used to ${verb} one ${thing}.` };
  }),
);
const QUERIES = TOOLS.map(({ id, name }, index) => {
  return { id: String(index), query: `please ${name.replace("_", " the ")}`, relevant: [id] };
});

let folder: string;
const lines = (rows: readonly unknown[]): string => rows.map((row) => JSON.stringify(row)).join("\n");
const config = (): string => join(folder, "arsenal.yaml");
const tuneWith = (...options: readonly string[]): Promise<Ran> =>
  runInMemory(["tune", "--tools", "tools.jsonl", "--queries", "queries.jsonl", "--tier", "lexical", ...options], {
    folder,
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-tune-"));
  await writeFile(join(folder, "tools.jsonl"), lines(TOOLS));
  await writeFile(join(folder, "queries.jsonl"), lines(QUERIES));
});
afterAll(() => rm(folder, { recursive: true }));

describe("tune", () => {
  it("puts settings into a configuration, and leaves the rest of it alone", async () => {
    const text = "# Ours.\nrouting:\n  mmr_lambda: 0 # why?\n  refuse: never\ntelemetry:\n  enabled: false\n";
    const best = { weights: { intent: 0.25 }, enableMmr: false, mmrLambda: 0.7 };
    expect(await withRouting(text, best)).toBe(
      "# Ours.\nrouting:\n  mmr_lambda: 0.7 # why?\n  refuse: never\n  weights:\n    intent: 0.25\n  enable_mmr: false\ntelemetry:\n  enabled: false\n",
    );
    expect(await withRouting("", best)).toBe(
      "routing:\n  weights:\n    intent: 0.25\n  enable_mmr: false\n  mmr_lambda: 0.7\n",
    );
  });

  it("writes nothing if nothing helps", async () => {
    const text = "routing:   { refuse: never }\n";
    await writeFile(config(), text);
    const { code, out } = await tuneWith("--write");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ helps: false, written: null });
    expect(await readFile(config(), "utf8")).toBe(text);
  });

  it("refuses a handful of queries, since they say nothing about others", async () => {
    await writeFile(join(folder, "few.jsonl"), lines(QUERIES.slice(0, 19)));
    const { code, err } = await runInMemory(["tune", "--tools", "tools.jsonl", "--queries", "few.jsonl"], { folder });
    expect(code).toBe(2);
    expect(err).toContain(
      "few.jsonl has 19 queries with a right tool; tune needs 20 or more. Add requests that people really made.",
    );
  });

  it("asks for the files that it needs, and for a configuration to write to", async () => {
    await rm(config(), { force: true });
    expect((await runInMemory(["tune"], { folder })).err).toContain("tune needs --tools FILE.");
    expect((await tuneWith("--write")).err).toContain("--write needs a configuration, and there is none.");
  });
});
