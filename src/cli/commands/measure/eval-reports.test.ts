import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Place, type Ran, runInMemory } from "../../../../test/e2e/terminal.ts";
import type { Comparison } from "../../../eval/compare.ts";
import type { Miss } from "../../../eval/suggest/misses.ts";
import type { Suggestion } from "../../../eval/suggest/suggest.ts";

const TOOLS = [
  { id: "refund", name: "process_refund", description: "Refund the payment of an order to its card." },
  {
    id: "erase",
    name: "delete_customer",
    description: "Erase a customer and all personal data <script>alert(1)</script>.",
  },
  { id: "invoice", name: "send_invoice", description: "Send the invoice of an order to its buyer." },
  { id: "ping", name: "ping", description: null },
  { id: "copy", name: "send_invoice", namespace: "other", description: "Send the invoice of an order to its buyer." },
  { id: "back", name: "go_back", description: "Go back to the page before." },
  { id: "money", name: "count_money", description: "Count the money of the till." },
];

const QUERIES = [
  { id: "1", query: "send the invoice", relevant: ["invoice"], also_ok: ["copy"], style: "direct" },
  { id: "2", query: "give them their money back", relevant: ["refund"], style: "goal" },
  { id: "3", query: "money back for the customer", relevant: ["refund"], style: "goal" },
  { id: "4", query: "erase the customer <b>Dana</b>", relevant: ["erase"], style: "direct" },
  { id: "5", query: "angels on a pin", relevant: [] },
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-"));
  const lines = (rows: readonly unknown[]): string => rows.map((row) => JSON.stringify(row)).join("\n");
  await writeFile(join(folder, "tools.jsonl"), lines(TOOLS));
  await writeFile(join(folder, "queries.jsonl"), lines(QUERIES));
  await writeFile(join(folder, "other.yaml"), "routing:\n  score_threshold: 0.99\n");
});
afterAll(() => rm(folder, { recursive: true }));

const SET = ["eval", "--tools", "tools.jsonl", "--queries", "queries.jsonl", "--tier", "lexical"];
const run = (argv: readonly string[], place: Place = {}): Promise<Ran> => runInMemory(argv, { folder, ...place });

async function json(...options: readonly string[]): Promise<Record<string, unknown>> {
  const { code, out } = await run([...SET, ...options]);
  expect(code).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
}

describe("eval --misses", () => {
  it("writes one JSON line a miss, with where it ranked, what came instead and why", async () => {
    expect(await run([...SET, "--misses", "misses.jsonl"])).toMatchObject({ code: 0, err: "" });
    const lines = (await readFile(join(folder, "misses.jsonl"), "utf8")).trim().split("\n");
    const misses = lines.map((line) => JSON.parse(line) as Miss);
    expect(misses.map(({ id, kind, relevant }) => [id, kind, relevant[0]?.rank])).toEqual([
      ["2", "lost", null],
      ["3", "lost", null],
    ]);
    expect(misses[0]).toMatchObject({ query: "give them their money back", style: "goal" });
    expect(misses[0]?.returned.map(({ id, name }) => [id, name])).toEqual([
      ["money", "count_money"],
      ["back", "go_back"],
    ]);
    expect(misses[0]?.relevant).toMatchObject([{ id: "refund", name: "process_refund" }]);
    expect(misses[0]?.reason).toBe(
      "process_refund (refund) has no word of the request; count_money (money) has “money” of the request.",
    );
  });

  it("shows them on stderr with -, and says where there are none", async () => {
    const { out, err } = await run([...SET, "--misses", "-"]);
    expect(err).toContain(
      "2 lost  give them their money back\n  wanted: process_refund (refund) not in the first 50\n",
    );
    expect(err).toMatch(/^ {2}1 +0\.\d{3} +count_money \(money\)$/m);
    expect(JSON.parse(out)).toMatchObject({ queries: 5 });
    await writeFile(join(folder, "one.jsonl"), JSON.stringify(QUERIES[0]));
    const clean = ["eval", "--tools", "tools.jsonl", "--queries", "one.jsonl", "--misses", "-"];
    expect((await run(clean)).err).toBe("No misses.\n");
  });
});

describe("eval --compare", () => {
  it("gives every figure of both configurations with an interval, under comparison", async () => {
    const comparison = (await json("--compare", "other.yaml"))["comparison"] as Comparison;
    expect(comparison).toMatchObject({
      a: { config: null, tier: "lexical" },
      b: { config: "other.yaml", tier: "lexical", report: { queries: 5, false_refused: 1 } },
      resamples: 10_000,
      figures: { "recall@1": { difference: 0, low: 0, high: 0, wins: 0, losses: 0, ties: 4 } },
      changed: [],
    });
    expect(comparison.figures["false_refused"]).toMatchObject({ b: 1, wins: 0 });
    expect(comparison.figures["false_refused"]?.losses).toBeGreaterThan(0);
  });

  it("compares two tiers, the same each time", async () => {
    const [first, second] = [await json("--compare-tier", "static"), await json("--compare-tier", "static")];
    const comparison = first["comparison"] as Comparison;
    expect([comparison.a.tier, comparison.b.tier]).toEqual(["lexical", "static"]);
    expect((second["comparison"] as Comparison).figures).toEqual(comparison.figures);
    expect(comparison.changed.map(({ id, a_rank }) => [id, a_rank])).toContainEqual(["2", null]);
  });

  it("is a table on a terminal", async () => {
    const { code, out } = await run([...SET, "--compare", "other.yaml", "--suggest"], {
      isTTY: true,
      environment: { NO_COLOR: "1" },
    });
    expect(code).toBe(0);
    expect(out).toContain("A defaults, lexical  ·  B other.yaml, lexical\n");
    expect(out).toMatch(/^recall@1 +0\.\d+ +0\.\d+ +0\.0000 +0\.0000 … 0\.0000 +0 +0 +4$/m);
    expect(out).toContain("No query changed.\n");
    expect(out).toMatch(
      /^description {2}Say in the description of process_refund \(refund\) that it serves “money back”/m,
    );
  });
});

describe("eval --report", () => {
  it("writes one page that runs nothing of what the set says", async () => {
    const options = ["--report", "report.html", "--compare-tier", "static", "--suggest"];
    expect(await run([...SET, ...options])).toMatchObject({ code: 0, err: "Report: report.html\n" });
    const page = await readFile(join(folder, "report.html"), "utf8");
    expect(page).toContain("<h2>Misses (2)</h2>");
    expect(page).toContain("5 queries of queries.jsonl over 7 tools of tools.jsonl");
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toContain("<b>");
  });
});

describe("eval --suggest", () => {
  it("says which words a tool lacks, under suggestions", async () => {
    const suggestions = (await json("--suggest"))["suggestions"] as readonly Suggestion[];
    expect(suggestions.filter(({ kind }) => kind === "description")).toMatchObject([
      { tool: "refund", low: 2, queries: 2, words: [{ words: "money back", queries: 2 }] },
      { tool: "ping", problems: ["missing"] },
    ]);
  });

  it("needs tools alone for near-copies and thin descriptions", async () => {
    const { code, out } = await run(["eval", "--tools", "tools.jsonl", "--suggest"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      tools: 7,
      suggestions: [
        { kind: "description", tool: "ping" },
        { kind: "shadow", tools: ["copy", "invoice"], similarity: 1 },
      ],
    });
  });
});

describe("eval", () => {
  it.each([
    [["--misses", "no/such/folder/misses.jsonl"], "--misses: "],
    [["--report", "no/such/folder/report.html"], "--report: "],
    [["--compare", "nowhere.yaml"], "nowhere.yaml"],
    [["--compare-tier", "psychic"], '--compare-tier cannot be "psychic".'],
  ])("%j exits 2 before anything is measured", async (options, message) => {
    expect(await run([...SET, ...options])).toEqual({ code: 2, out: "", err: expect.stringContaining(message) });
  });

  it.each(["--misses", "--report", "--compare", "--compare-tier"])("%s needs queries", async (option) => {
    const argv = ["eval", "--tools", "tools.jsonl", "--suggest", option, option === "--compare-tier" ? "static" : "x"];
    expect(await run(argv)).toMatchObject({ code: 2, err: expect.stringContaining("eval needs --queries FILE.") });
  });

  it("writes nothing when Ctrl-C comes first", async () => {
    const argv = [...SET, "--report", "never.html"];
    expect(await run(argv, { signal: AbortSignal.abort() })).toMatchObject({ code: 130, out: "" });
    await expect(readFile(join(folder, "never.html"))).rejects.toThrow("ENOENT");
  });
});
