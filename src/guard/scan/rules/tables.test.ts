import { describe, expect, it } from "vitest";
import { NEAR_MISSES, ORDINARY } from "../../../../test/guard/scan-samples.ts";
import { rulesFor } from "../../../../test/guard/rules-for.ts";
import { ruleScanner, scanText } from "../scan-text.ts";
import { reaches } from "../finding.ts";
import { PHRASE_TABLES, SCAN_RULES } from "./all-rules.ts";
import { always, type PhraseRule } from "./phrases.ts";
import { toRuleText } from "./rule.ts";

const finds = ({ find }: PhraseRule, text: string): boolean => find(toRuleText(text)) !== undefined;

describe.each(PHRASE_TABLES)("in a table of phrases", (...table) => {
  const phrases = table
    .flatMap((each) => Object.values(each.phrases))
    .map((phrase) => always("injection.one", "low", "One.", { sample: phrase }));

  it.each(table)("$id finds each of its samples, by one phrase that no other makes needless", (own) => {
    for (const [sample, phrase] of Object.entries(own.phrases)) {
      const found = phrases.filter((each) => finds(each, sample)).map((each) => each.phrases["sample"]);
      expect([sample, finds(own, sample), found]).toEqual([sample, true, [phrase]]);
    }
  });
});

describe("a rule passes", () => {
  it.each(NEAR_MISSES)("%s: %s", (id, text) => {
    expect(rulesFor(text)).not.toContain(id);
  });
});

describe("ordinary text passes", () => {
  it.each(ORDINARY)("%s", (text) => {
    const { findings } = scanText(text, [ruleScanner(SCAN_RULES)], undefined);
    expect(findings.filter(({ finding }) => reaches(finding.severity, "medium"))).toEqual([]);
  });
});

describe("rules", () => {
  it("have ids of their own, in their category", () => {
    const ids = SCAN_RULES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, category } of SCAN_RULES)
      expect(id.split(".")[0]).toBe(category === "hidden-text" ? "hidden" : category);
    for (const table of PHRASE_TABLES) expect(new Set(table.map(({ category }) => category)).size).toBe(1);
  });

  it.each(SCAN_RULES)("say how bad it is and what it means: $id", ({ severity, message }) => {
    expect(reaches(severity, "low")).toBe(true);
    expect(message).toMatch(/^[A-Z].{10,}\.$/);
  });

  it("let each something pass", () => {
    const shown = new Set(NEAR_MISSES.map(([id]) => id));
    expect(SCAN_RULES.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
  });
});
