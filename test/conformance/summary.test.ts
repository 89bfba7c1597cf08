import { expect, it } from "vitest";
import { readSummary } from "./summary.ts";

it("counts the checks of a suite that scores all of them", () => {
  const text =
    "noise\n=== SUMMARY ===\n✓ ping: 1 passed, 0 failed\n✗ caching: 3 passed, 2 failed\n\nTotal: 4 passed, 2 failed\n";
  expect(readSummary(text)).toEqual({ passed: 4, failures: ["caching: 2 of 5 failed"] });
});

it("counts the scenarios that a revision scores, and no others", () => {
  const text = [
    "=== SUMMARY ===",
    "✓ tools-list: 4 passed, 0 failed",
    "✗ caching: 3 passed, 1 failed",
    "✗ tasks-lifecycle: 1 passed, 8 failed",
    "✓ json-schema-2020-12: 8 passed, 0 failed",
    "",
    "Total: 16 passed, 9 failed",
    "",
    "Not scored for 2026-07-28: 2 scenario(s) run, 1 failing. These do not affect conformance.",
    "  ✗ tasks-lifecycle (extension)",
    "  ✓ json-schema-2020-12 (pending)",
  ].join("\n");
  expect(readSummary(text)).toEqual({ passed: 1, failures: ["caching: 1 of 4 failed"] });
});

it("finds nothing in what a suite prints that did not run", () => {
  expect(readSummary("Error: connect ECONNREFUSED")).toEqual({ passed: 0, failures: [] });
});
