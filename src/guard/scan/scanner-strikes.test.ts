import { describe, expect, it } from "vitest";
import type { Rule } from "./rules/rule.ts";
import type { TextScanner } from "../scanner.port.ts";
import { createScanner } from "./scanner.ts";
import type { Severity } from "./finding.ts";

/** A rule that finds a word. */
function wordRule(name: string, word: string, severity: Severity = "high"): Rule {
  const find: Rule["find"] = ({ text }) => {
    const start = text.indexOf(word);
    return start < 0 ? undefined : { start, end: start + word.length };
  };
  return { id: `injection.${name}`, category: "injection", severity, message: "Has the word.", find };
}

const neutralise = (text: string, ...rules: readonly Rule[]): string =>
  createScanner({ mode: "neutralise", rules }).neutraliseText(text).value;

describe("what is struck out", () => {
  it("has one mark where findings overlap, of the one that begins first", () => {
    expect(neutralise("one two three four", wordRule("b", "two three"), wordRule("a", "one two"))).toBe(
      "[removed: injection.a] four",
    );
  });

  it("has one mark where one finding lies in another, of the longer one", () => {
    expect(neutralise("one two three", wordRule("a", "one"), wordRule("b", "one two"))).toBe(
      "[removed: injection.b] three",
    );
    expect(neutralise("one two three", wordRule("a", "one two three"), wordRule("b", "two"))).toBe(
      "[removed: injection.a]",
    );
  });

  it("has a mark for each finding where they touch or lie apart", () => {
    expect(neutralise("a onetwo b six c", wordRule("b", "two"), wordRule("c", "six"), wordRule("a", "one"))).toBe(
      "a [removed: injection.a][removed: injection.b] b [removed: injection.c] c",
    );
  });

  it("is taken out as often as it stands there", () => {
    expect(neutralise("one one one", wordRule("a", "one"))).toBe(
      "[removed: injection.a] [removed: injection.a] [removed: injection.a]",
    );
  });

  it("is only what reaches the severity", () => {
    expect(neutralise("one two", wordRule("a", "one"), wordRule("b", "two", "medium"))).toBe(
      "[removed: injection.a] two",
    );
  });

  it("is everything where a text does not become better", () => {
    expect(neutralise("a removed b", wordRule("a", "removed"))).toBe("[removed: this text could not be made safe]");
  });

  it("is everything where a word stands there six times or more, and not where it does five times", () => {
    expect(neutralise("one ".repeat(6), wordRule("a", "one"))).toBe("[removed: this text could not be made safe]");
    expect(neutralise("one ".repeat(5), wordRule("a", "one"))).toBe("[removed: injection.a] ".repeat(5));
  });
});

describe("plain data", () => {
  const scanner = createScanner({ mode: "neutralise", rules: [wordRule("a", "one")] });

  it("is scanned with its names, and each finding says where", () => {
    expect(scanner.scanValue({ one: [1, "two", "one"] }, "result").findings.map(({ path }) => path)).toEqual([
      "one",
      "one.2",
    ]);
  });

  it("is looked at once to be scanned, and again only to be made safe", () => {
    const seen: string[] = [];
    const listens: TextScanner = { rules: [], scan: (text) => (seen.push(text), []) };
    const listening = createScanner({ mode: "neutralise", rules: [wordRule("a", "one")], scanners: [listens] });
    listening.scanValue(["one"], "result");
    expect(seen).toEqual(["one"]);
    listening.neutraliseValue(["one"], "result");
    expect(seen).toEqual(["one", "one", "[removed: injection.a]"]);
  });

  it("loses what is bad in its names too", () => {
    const { value, report } = scanner.neutraliseValue({ one: "two" }, "result");
    expect(value).toEqual({ "[removed: injection.a]": "two" });
    expect(report).toMatchObject({ flagged: true, severity: "high", action: "neutralise" });
  });

  it("is withheld where it cannot be read", () => {
    const endless: unknown[] = [];
    endless.push(endless);
    expect(scanner.neutraliseValue(endless, "result")).toMatchObject({
      value: "[removed: this text could not be made safe]",
      report: { failure: "The scan failed: The data is nested more than 200 deep." },
    });
  });
});

it("tells what a rule threw, whatever that is", () => {
  const rule: Rule = {
    ...wordRule("a", "one"),
    find() {
      throw "out of order";
    },
  };
  expect(createScanner({ mode: "flag", rules: [rule] }).scanText("x").failure).toBe("The scan failed: out of order");
});

it.each(["mode", "flagAt", "actAt"] as const)("says which setting is wrong, and what to write: %s", (field) => {
  const known =
    field === "mode" ? "Write one of block, flag, neutralise." : "Write one of info, low, medium, high, critical.";
  const create = () => createScanner({ mode: "flag", [field]: "stop" } as { mode: "flag" });
  expect(create).toThrow(`${field} is "stop". ${known}`);
  expect(create).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", details: { field, value: "stop", fix: known } }),
  );
});
