import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SHIPPED_FILES } from "../../../adapters/embedders/shipped-files.ts";
import { type Place, type Ran, runInMemory } from "../../../../test/e2e/terminal.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

const TOOLS = [
  { id: "E/1", name: "send_email", namespace: "office", description: "Sends an email message to a recipient." },
  { id: "P/1", name: "resizePhoto", description: null, parameters: { type: "object", properties: { width: {} } } },
  { id: "F/1", name: "book_flight", namespace: null, description: "Books a flight between two airports." },
];

const QUERIES = [
  { id: "1", query: "send an email message", relevant: ["E/1"], style: "direct" },
  { id: "2", query: "send an email and resize a photo", relevant: ["E/1", "P/1"], style: "multi" },
  { id: "3", query: "book a flight and email", relevant: ["E/1"], also_ok: ["F/1"], style: "direct" },
  { id: "4", query: "and now do it", relevant: ["P/1"], history: ["user: I want to resize a photo"] },
  { id: "5", query: "prove the theorem of Pythagoras", relevant: [], style: "none" },
];

const lines = (rows: readonly unknown[]): string => rows.map((row) => JSON.stringify(row)).join("\n");

async function evaluate(
  tools: string,
  queries: string,
  place: Place = {},
  ...options: readonly string[]
): Promise<Ran> {
  await writeFile(join(folder, "tools.jsonl"), tools);
  await writeFile(join(folder, "queries.jsonl"), queries);
  const argv = ["eval", "--tools", "tools.jsonl", "--queries", "queries.jsonl", ...options];
  return runInMemory(argv, { folder, ...place });
}

describe("eval", () => {
  it("refuses to measure another tier than --tier tuned", async () => {
    const files = SHIPPED_FILES as { -readonly [Name in keyof typeof SHIPPED_FILES]: URL };
    const { tuned } = files;
    files.tuned = new URL("gone.bin", tuned);
    try {
      const { code, out, err } = await evaluate(lines(TOOLS), lines(QUERIES), {}, "--tier", "tuned");
      expect([code, out]).toEqual([2, ""]);
      expect(err).toMatch(/--tier tuned cannot rank: (?:static|lexical) answered instead\./);
    } finally {
      files.tuned = tuned;
    }
  });

  it("prints one JSON object with exactly the documented figures where stdout is no terminal", async () => {
    const { code, out, err } = await evaluate(lines(TOOLS), lines(QUERIES));
    expect([code, err]).toEqual([0, ""]);
    const report = JSON.parse(out) as Record<string, unknown>;
    const figures = ["recall@1", "recall@5", "recall@10", "ndcg@10", "mrr", "false_refused", "p50_ms", "p95_ms"];
    expect(Object.keys(report).sort()).toEqual(
      ["queries", ...figures, "refused", "index_ms", "tier", "by_style"].sort(),
    );
    expect(report).toMatchObject({
      queries: 5,
      // 1, ½, 1 (the flight neither counts nor costs) and 1 (found by the turn before); the fifth counts in no ranking figure.
      "recall@1": 0.875,
      "recall@5": 1,
      "recall@10": 1,
      "ndcg@10": 1,
      mrr: 1,
      refused: 1,
      false_refused: 0,
      tier: "lexical",
      by_style: {
        direct: { queries: 2, "recall@1": 1, mrr: 1, false_refused: 0 },
        multi: { queries: 1, "recall@1": 0.5, "recall@5": 1 },
        none: { queries: 1, refused: 1 },
      },
    });
    expect(Object.keys((report["by_style"] as Record<string, object>)["direct"] ?? {}).sort()).toEqual(
      ["queries", ...figures].sort(),
    );
    expect(report["p95_ms"]).toBeGreaterThanOrEqual(report["p50_ms"] as number);
  });

  it("ranks what also_ok names, where it is not said to be ok", async () => {
    const [, , third] = QUERIES;
    const { out } = await evaluate(lines(TOOLS), lines([{ ...third, also_ok: undefined, relevant: ["E/1"] }]));
    expect(JSON.parse(out)).toMatchObject({ "recall@1": 0, "recall@5": 1, mrr: 0.5 });
  });

  it("counts what is answered with nothing, though something fits, as falsely refused, and ranks it all the same", async () => {
    await writeFile(join(folder, "picky.yaml"), "routing:\n  score_threshold: 1\n");
    const picky = await evaluate(lines(TOOLS), lines(QUERIES.slice(1, 3)), {}, "--config", "picky.yaml");
    expect(JSON.parse(picky.out)).toMatchObject({ false_refused: 1, "recall@5": 1 });
    const silent = [{ id: "1", query: "prove the theorem of Pythagoras", relevant: ["P/1"] }];
    const report = JSON.parse((await evaluate(lines(TOOLS), lines(silent))).out) as Record<string, unknown>;
    expect(report).toMatchObject({ false_refused: 1, "recall@10": 0 });
    expect(report).not.toHaveProperty("refused");
    expect(report).not.toHaveProperty("by_style");
  });

  it("is a table on a terminal, and JSON there with --json", async () => {
    const terminal = { isTTY: true };
    const shown = await evaluate(lines(TOOLS), lines(QUERIES), terminal);
    expect(shown.out).toMatch(/^queries +5$/m);
    expect(shown.out).toMatch(/multi +1 +0\.5/);
    expect(JSON.parse((await evaluate(lines(TOOLS), lines(QUERIES), terminal, "--json")).out)).toMatchObject({
      queries: 5,
    });
  });

  it("takes blank lines, Windows line ends and a byte order mark", async () => {
    const tools = `\uFEFF${lines(TOOLS).replaceAll("\n", "\r\n\r\n")}\r\n`;
    expect((await evaluate(tools, `${lines(QUERIES)}\n\n`)).code).toBe(0);
  });

  const good = QUERIES[0] ?? {};
  it.each([
    ["tools", 2, "{", "not JSON"],
    ["tools", 2, "[]", "the line must be a JSON object, not []"],
    ["tools", 2, JSON.stringify({ name: "x" }), "id must be a non-empty string, not undefined"],
    ["tools", 2, JSON.stringify({ ...TOOLS[1], id: "E/1" }), 'id must be unique in the file, not "E/1"'],
    ["queries", 2, "nonsense", "not JSON"],
    ["queries", 2, JSON.stringify({ ...good, id: 5 }), "id must be a non-empty string, not 5"],
    ["queries", 2, JSON.stringify({ ...good, query: "" }), 'query must be a non-empty string, not ""'],
    ["queries", 2, JSON.stringify({ ...good, relevant: "E/1" }), 'relevant must be a list of tool ids, not "E/1"'],
    [
      "queries",
      2,
      JSON.stringify({ ...good, relevant: undefined }),
      "relevant must be a list of tool ids, not undefined",
    ],
    [
      "queries",
      2,
      JSON.stringify({ ...good, relevant: ["Z/9"] }),
      'relevant must be the id of a tool in the tools file, not "Z/9"',
    ],
    ["queries", 2, JSON.stringify({ ...good, also_ok: "E/1" }), 'also_ok must be a list of tool ids, not "E/1"'],
    ["queries", 2, JSON.stringify({ ...good, history: [1] }), "history must be a list of strings, not [1]"],
    ["queries", 2, JSON.stringify({ ...good, style: 3 }), "style must be a non-empty string, not 3"],
  ])("names file and line of what is wrong in the %s, line %i: %s", async (file, line, text, message) => {
    const [tools, queries] = [lines(TOOLS.slice(0, 1)), lines(QUERIES.slice(0, 1))];
    const { code, out, err } =
      file === "tools" ? await evaluate(`${tools}\n${text}`, queries) : await evaluate(tools, `${queries}\n${text}`);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(`INPUT_INVALID ${join(folder, `${file}.jsonl`)}:${line}: ${message}`);
  });

  it.each([
    [["eval"], "eval needs --tools FILE."],
    [["eval", "--tools", "nowhere.jsonl", "--queries", "x"], "Cannot read "],
    [["eval", "--tools", ".", "--queries", "x"], "Cannot read "],
    [["eval", "--tools", "empty.jsonl", "--queries", "x"], "empty.jsonl is empty."],
    [["eval", "--tools", "x", "--queries", "y", "--tier", "psychic"], '--tier cannot be "psychic".'],
  ])("%j exits 2", async (argv, message) => {
    await writeFile(join(folder, "empty.jsonl"), "\n");
    const { code, out, err } = await runInMemory(argv, { folder });
    expect([code, out, err]).toEqual([2, "", expect.stringContaining(message)]);
  });
});
