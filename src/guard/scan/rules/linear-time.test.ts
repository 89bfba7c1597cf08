import { describe, expect, it, vi } from "vitest";
import { nestedRepetitions } from "../../../../test/guard/nested-repetitions.ts";
import { ruleScanner, scanText } from "../scan-text.ts";
import { PHRASE_TABLES, SCAN_RULES } from "./all-rules.ts";

describe("rules", () => {
  // Time in proportion to the text: a rule that is worse runs out of the time a test has.
  it.each([
    "send ",
    "ignore all the ",
    "all the previous ",
    "a@b.",
    "the conversation ",
    "\u001B]",
    "\u009D",
    "![",
    "![x](https://a.b/?q=",
    "![a][b]\n[b]: https://a.b/",
    "<img src=https://a.b/?",
    "<!-- ",
    "<a ",
    "../",
    "/etc/./",
    "no any all the ",
    "' or ",
    "$(curl ",
    "base64 -d ",
    "curl a ",
    "|",
    "[",
    "<important ",
    "\n",
    "\n ",
    "  ",
    "=",
    "a",
    "A1",
    "a_",
    "%41",
    "\\x41",
    "&#x41;",
    "you are now ",
    "never not ",
    "never tell the ",
    "forget what you were told ",
    "bypass all your ",
    "before any other ",
    "act as A B ",
    "send all your data ",
    "\u200B",
    "\u00AD",
    "а",
    "e\u0301",
    "\u{1F1E6}",
    '"command":"node" args ',
    "keep across ",
    "where {{",
    "do not tell ",
    "1.1.1.1.",
    "-- END ",
    "approve ",
    "account is ",
    "user has ",
    "without user ",
    "file:///",
    "~/.ssh/",
    "%2e%2e/",
    "http://",
    "CVE-2025-1111 ",
    "when a_b ",
    "the a tool ",
    "acts as ",
    "how to ",
    "<script",
    "onerror='",
    "{{",
    "echo $",
    "env | ",
    "\u{E0041}",
    "\uFE00",
    "\u202E",
  ])(
    "read a long row of %j",
    (piece) => {
      const row = piece.repeat(Math.ceil(60_000 / piece.length));
      expect(scanText(row, [ruleScanner(SCAN_RULES)], undefined).text.length).toBeLessThanOrEqual(row.length);
    },
    5000,
  );

  // Read off the expressions themselves, so that no other load on the machine matters.
  it("repeat nothing without bound inside what is repeated without bound", () => {
    const run = expressionsRunBy(() => {
      for (const sample of PHRASE_TABLES.flat().flatMap(({ phrases }) => Object.keys(phrases)))
        scanText(sample, [ruleScanner(SCAN_RULES)], undefined);
    });
    expect(run.length).toBeGreaterThan(100);
    expect(run.flatMap(nestedRepetitions)).toEqual([]);
  });
});

/** Each expression that a task runs, once. */
function expressionsRunBy(task: () => void): readonly RegExp[] {
  const exec = vi.spyOn(RegExp.prototype, "exec");
  try {
    task();
    const run = exec.mock.contexts.filter((expression) => expression instanceof RegExp);
    return [...new Map(run.map((expression) => [String(expression), expression])).values()];
  } finally {
    exec.mockRestore();
  }
}
