import { describe, expect, it } from "vitest";
import { requirePeers } from "../peers/peers.ts";
import { judgeClient, judgeServer, readSummary } from "./summary.ts";

it("counts the checks of a suite that scores all of them", () => {
  const text =
    "noise\n=== SUMMARY ===\n✓ ping: 1 passed, 0 failed\n✗ caching: 3 passed, 2 failed\n\nTotal: 4 passed, 2 failed\n";
  expect(readSummary(text)).toEqual({ scenarios: 2, passed: 4, failures: ["caching: 2 of 5 failed"] });
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
  expect(readSummary(text)).toEqual({ scenarios: 2, passed: 1, failures: ["caching: 1 of 4 failed"] });
});

it("finds no summary in what a suite prints that did not run", () => {
  expect(readSummary("Error: connect ECONNREFUSED")).toBeUndefined();
});

describe("a server suite passes only if it ran", () => {
  const good = "=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n";
  it.each([
    ["everything required passed", { code: 0, text: good }, []],
    ["it crashed", { code: 1, text: "Error: connect ECONNREFUSED" }, ["it printed no summary and exited with code 1"]],
    ["it printed nothing", { code: 0, text: "" }, ["it printed no summary and exited with code 0"]],
    ["it hung", { code: null, text: "…" }, ["it printed no summary and was stopped"]],
    ["it ran nothing", { code: 0, text: "=== SUMMARY ===\n\nTotal: 0 passed, 0 failed\n" }, ["it ran no scenario"]],
    ["its summary is not as we know it", { code: 0, text: "=== SUMMARY ===\nping OK\n" }, ["it ran no scenario"]],
    ["too few passed", { code: 0, text: good.replace("2", "1") }, ["only 1 passed, 2 required"]],
    ["one failed", { code: 1, text: `${good}✗ list: 1 passed, 1 failed\n` }, ["list: 1 of 2 failed"]],
    ["it failed after its summary", { code: 3, text: good }, ["it exited with code 3"]],
    ["it was stopped after its summary", { code: null, text: good }, ["it was stopped"]],
  ])("%s", (_, run, problems) => {
    expect(judgeServer(run, 2).problems).toEqual(problems);
  });
});

describe("a client scenario passes only if it ran", () => {
  const good = "Test Results:\nPassed: 3/3, 0 failed, 0 warnings\n";
  it.each([
    ["every check passed", { code: 0, text: good }, true],
    ["the suite failed", { code: 1, text: good }, false],
    ["a check failed", { code: 0, text: good.replace("0 failed", "1 failed") }, false],
    ["there was no check", { code: 0, text: good.replace("3/3", "0/0") }, false],
    ["it printed no results", { code: 0, text: "Starting scenario: initialize" }, false],
    ["it hung", { code: null, text: good }, false],
  ])("%s", (_, run, passed) => {
    expect(judgeClient(run)).toBe(passed);
  });
});

it("cannot run without the suites", () => {
  expect(() => requirePeers(new URL("file:///nowhere/"))).toThrow("test/peers is not installed");
});
