import { describe, expect, it } from "vitest";
import { scannerContract } from "../../testing/scanner.contract.ts";
import { SCAN_RULES } from "./rules/all-rules.ts";
import { ruleScanner } from "./scan-text.ts";

describe("ruleScanner, as a scanner", () => {
  for (const { name, run } of scannerContract(() => ({ adapter: ruleScanner(SCAN_RULES) }))) it(name, run);
});

describe("ruleScanner", () => {
  it("applies a rule only in its places, and all rules without one", () => {
    const { scan } = ruleScanner([
      {
        id: "injection.mark",
        category: "injection",
        severity: "high",
        message: "Has a mark.",
        places: ["result"],
        find: ({ text }) => (text.includes("#") ? { start: text.indexOf("#"), end: text.indexOf("#") + 1 } : undefined),
      },
    ]);
    expect(scan("a#", "definition")).toEqual([]);
    expect(scan("a#", "result")).toEqual(scan("a#"));
    expect(scan("a#")).toMatchObject([
      { finding: { rule: "injection.mark", position: 1 }, span: { start: 1, end: 2 } },
    ]);
  });
});
