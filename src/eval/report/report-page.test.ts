import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { AnsweredQuery } from "../answer.ts";
import { compareAnswers } from "../compare.ts";
import { figuresOf } from "../metrics.ts";
import { toMiss } from "../suggest/misses.ts";
import { type ReportParts, reportPage } from "./report-page.ts";
import { reportOn } from "../summarise.ts";

const HOSTILE = `<script>alert(1)</script><img src=x onerror="alert(2)">'`;

function answer(ranking: readonly string[]): AnsweredQuery {
  return {
    id: HOSTILE,
    query: HOSTILE,
    relevant: ["a"],
    alsoOk: [],
    history: [],
    style: HOSTILE,
    ranking: ranking.map((id, index) => ({ id, score: 0.9 - index / 10, semanticScore: 0.8 })),
    figures: figuresOf(ranking, new Set(["a"])),
    refused: false,
    durationMs: 2,
  };
}

const LOW = answer([HOSTILE, "x", "y", "z", "w", "a"]);

async function parts(): Promise<ReportParts> {
  const [a, b] = [[LOW], [answer(["a"])]];
  const report = reportOn(a, { indexMs: 5, tier: "lexical", sized: [] });
  return {
    toolsFile: HOSTILE,
    queriesFile: HOSTILE,
    toolCount: 7,
    report,
    misses: [toMiss(LOW, "low", HOSTILE)],
    comparison: {
      a: { config: HOSTILE, tier: "lexical" },
      b: { config: null, tier: "static", report },
      ...(await compareAnswers(a, b, { resamples: 100 })),
    },
    suggestions: [
      {
        kind: "shadow",
        tools: [HOSTILE, "a"],
        similarity: 1,
        taken: 1,
        taken_back: 0,
        queries: [],
        suggestion: HOSTILE,
      },
    ],
    runs: [a, b].map((answers) => ({ config: HOSTILE, tier: "lexical", routing: { mmrLambda: 0.5 }, answers })),
  };
}

describe("reportPage", () => {
  it("lets nothing run that others wrote, wherever it stands", async () => {
    const page = reportPage(await parts());
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toContain("<img");
    expect(page.split("&lt;script&gt;alert(1)&lt;/script&gt;").length).toBeGreaterThan(10);
    const [, script = ""] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? [];
    const hash = createHash("sha256").update(script).digest("base64");
    expect(page).toContain(
      `default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; script-src &#39;sha256-${hash}&#39;`,
    );
  });

  it("needs nothing from outside", async () => {
    const page = reportPage(await parts());
    expect(page.match(/<link|<[^>]*\ssrc=|url\(|@import|https?:/g)).toBeNull();
  });

  it("shows figures, styles, three plots, comparison, suggestions, misses and configuration", async () => {
    const page = reportPage(await parts());
    const titles = [...page.matchAll(/<h[12]>([^<]*)</g)].map(([, title]) => title);
    expect(titles).toEqual([
      "Retrieval report",
      "By style",
      "Plots",
      "Comparison",
      "Queries that changed most",
      "Suggestions (1)",
      "Misses (1)",
      "Configuration",
    ]);
    expect(page.match(/<figure>/g)).toHaveLength(3);
    expect(page).toContain("B, k = 1: 1.0000");
    expect(page).toContain("A, 6–10: 1");
    expect(page).toContain("&quot;mmrLambda&quot;: 0.5");
  });

  it("is the same page for the same parts, and says so where nothing was missed", async () => {
    const given = await parts();
    expect(reportPage(given)).toBe(reportPage(given));
    const clean = reportPage({ ...given, misses: [], comparison: undefined, suggestions: undefined });
    expect(clean).toContain("None: every query has what serves it among its first five tools.");
    expect(clean).not.toContain("<h2>Comparison");
  });
});
