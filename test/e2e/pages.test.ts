import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { some } from "../kit/effort.ts";
import { openPageSession } from "../kit/page-session.ts";
import { matchOutput, stepsOf, updatedOutput, withOutputs } from "../kit/page-steps.ts";
import { IS_BUILT } from "../kit/program.ts";
import { read, ROOT } from "../repo/project.ts";
import { postgresMissing, realPostgres } from "../services/postgres.ts";
import { redisMissing, startRedis } from "../services/redis.ts";

/** Pages whose files and commands are followed here, in order, and whose output is compared. */
const PAGES: readonly string[] = [
  "concepts/failure-modes",
  "concepts/mcp-eras",
  "concepts/path",
  "concepts/schema-losses",
  "concepts/scoring-example",
  "concepts/state-and-replicas",
  "concepts/tiers",
  "concepts/trust-model",
  "guides/add-an-adapter",
  "guides/approve-calls",
  "guides/code-mode-and-workflows",
  "guides/cut-prompt-tokens",
  "guides/desktop-clients",
  "guides/improve-retrieval",
  "guides/keep-secrets",
  "guides/limit-who-may-call",
  "guides/openapi-service",
  "guides/poisoned-server",
  "guides/share-a-gateway",
  "guides/upgrading",
  "guides/why-this-tool",
];

/** True to write what was printed into the pages, as far as that can be done without a person. */
const IS_UPDATE = process.env["TOOLARSENAL_UPDATE_PAGES"] === "1";

/** Follows a page in an empty folder, up to the first output that differs. Returns how many outputs were compared. */
async function follow(page: string, variables?: Readonly<Record<string, string>>): Promise<number> {
  const text = read(`docs/${page}.md`);
  const steps = stepsOf(text);
  const updates: Parameters<typeof withOutputs>[1][number][] = [];
  const onUpdate = IS_UPDATE ? (update: (typeof updates)[number]): number => updates.push(update) : undefined;
  const session = await openPageSession(variables, undefined, onUpdate);
  onTestFinished(() => session.close());
  for (const step of steps) await session.take(step);
  if (updates.length > 0) writeFileSync(`${ROOT}docs/${page}.md`, withOutputs(text, updates));
  return steps.filter((step) => step.kind !== "file" && step.output !== undefined).length;
}

/** Why pages cannot be followed, which is printed; undefined if they can. Continuous integration must have both programs. */
function programsMissing(): string | undefined {
  const missing = ["bash", "curl"].filter((program) => spawnSync(program, ["--version"]).status !== 0);
  if (missing.length === 0) return undefined;
  const why = `${missing.join(" and ")} is not installed`;
  if (process.env["CI"] === "true") throw new Error(why);
  process.stderr.write(`No page is followed: ${why}\n`);
  return why;
}

// because a program may be missing, which is printed, and an error in CI
describe.skipIf(programsMissing() !== undefined)("a reader who follows a page sees what it shows:", () => {
  // Continuous integration follows all of them; a run of `npm test` follows some, other ones each time.
  it.each(IS_BUILT || IS_UPDATE ? PAGES : some(PAGES, 7, "pages"))("docs/%s.md", { timeout: 300_000 }, async (page) => {
    expect(await follow(page)).toBeGreaterThan(0);
  });

  // because a server may be missing, which is printed, and an error in CI
  it.skipIf(postgresMissing() !== undefined || redisMissing() !== undefined)(
    "docs/guides/run-replicas.md, on PostgreSQL and Redis",
    { timeout: 300_000 },
    async () => {
      const [postgres, redis] = await Promise.all([realPostgres(), startRedis()]);
      onTestFinished(() => redis.stop());
      onTestFinished(() => postgres?.remove());
      const DATABASE_URL = (await postgres?.database()) ?? "";
      expect(await follow("guides/run-replicas", { DATABASE_URL, REDIS_URL: redis.url })).toBe(3);
    },
  );
});

describe("the output of a page", () => {
  it("may leave out text of a line, and whole lines", () => {
    expect(matchOutput("first … end\n…\nlast\n", "first 12 ms end\nsecond\nthird\nlast\n")).toEqual(new Map());
  });

  it("may have other times and durations", () => {
    const shown = "2026-11-18 03:50:44  5 tools, 16.6 ms, 590 s left";
    expect(matchOutput(shown, "2027-01-02 13:00:09  5 tools, 7 ms, 12 s left")).toEqual(new Map());
    expect(matchOutput('{"p50_ms":34.17,"n":5}', '{"p50_ms":1,"n":5}')).toEqual(new Map());
    expect(matchOutput(shown, "2027-01-02 13:00:09  6 tools, 7 ms, 12 s left")).toBeUndefined();
  });

  it("may have scores that a model rounded differently", () => {
    expect(matchOutput("0.785  notes.read_note", "0.787  notes.read_note")).toEqual(new Map());
    expect(matchOutput("0.785  notes.read_note", "0.795  notes.read_note")).toBeUndefined();
  });

  it("must be the same otherwise", () => {
    expect(matchOutput("3 tools\n", "4 tools\n")).toBeUndefined();
    expect(matchOutput("3 tools\n", "3 tools\none more line\n")).toBeUndefined();
  });

  it("names ids, which later commands of the page use", () => {
    const shown = "0f4c9a52e07b4c1d9be2f6a3c85d7e10 is approved.";
    expect(matchOutput(shown, "1f4c9a52e07b4c1d9be2f6a3c85d7e11 is approved.")).toEqual(
      new Map([["0f4c9a52e07b4c1d9be2f6a3c85d7e10", "1f4c9a52e07b4c1d9be2f6a3c85d7e11"]]),
    );
  });
});

describe("a page that is updated", () => {
  it("gets the numbers that were printed, and still leaves out what it left out", () => {
    const shown = "0.785  notes.read_note …\n…\n3 of 12 tools, 1,204 tokens\n";
    const printed = "0.912  notes.read_note and more\nanother\n4 of 15 tools, 998 tokens\n";
    expect(updatedOutput(shown, printed)).toBe("0.912  notes.read_note …\n…\n4 of 15 tools, 998 tokens\n");
  });

  it("gets the whole output if other words were printed and it leaves nothing out", () => {
    expect(updatedOutput("first\nsecond\n", "second\nfirst\n\n")).toBe("second\nfirst\n");
    expect(updatedOutput("first …\nsecond\n", "second\nfirst\n")).toBeUndefined();
  });

  it("keeps its ids, because later commands name them", () => {
    const [shown, printed] = ["0f4c9a52e07b4c1d9be2f6a3c85d7e10", "1f4c9a52e07b4c1d9be2f6a3c85d7e11"];
    expect(updatedOutput(`${shown} waits 3 times\n`, `${printed} waits 4 times\n`)).toBe(`${shown} waits 4 times\n`);
  });

  it("changes only the block below the commands", () => {
    const block = "```text\n1 tool\n```\n";
    const page = `${block}\n\`\`\`sh\nlist\n\`\`\`\n\n${block}`;
    expect(withOutputs(page, [{ line: 5, shown: "1 tool\n", output: "2 tools\n" }])).toBe(
      `${block}\n\`\`\`sh\nlist\n\`\`\`\n\n\`\`\`text\n2 tools\n\`\`\`\n`,
    );
  });
});
