import { describe, expect, it } from "vitest";
import { defineTool } from "../../tool/define-tool.ts";
import type { Dependency, Tool } from "../../tool/tool.ts";
import type { Candidate } from "./scorer.ts";
import { dropConflicts, findCompanions, type CompanionOptions } from "./dependencies.ts";

function tool(name: string, dependencies: readonly Dependency[] = [], namespace = "shop"): Tool {
  return defineTool({
    name,
    namespace,
    dependencies,
    description: `The tool ${name}.`,
    parameters: { type: "object" },
  });
}
const requires = (...names: readonly string[]): readonly Dependency[] =>
  names.map((name) => ({ tool: name, type: "requires" }));
const suggests = (...names: readonly string[]): readonly Dependency[] =>
  names.map((name) => ({ tool: name, type: "suggests" }));
const conflicts = (...names: readonly string[]): readonly Dependency[] =>
  names.map((name) => ({ tool: name, type: "conflicts" }));

function companions(
  chosen: readonly Tool[],
  others: readonly Tool[],
  options: Partial<CompanionOptions> = {},
): readonly string[] {
  const known = new Map([...chosen, ...others].map((entry) => [entry.id, entry]));
  const found = findCompanions(chosen, { limit: 5, get: (id) => known.get(id), accept: () => true, ...options });
  return found.map(({ tool: companion, type, of }) => `${of} ${type} ${companion.id}`);
}

describe("findCompanions", () => {
  it("brings what a tool requires, by name in its namespace or by id", () => {
    expect(
      companions([tool("pay", requires("login", "bank.rate"))], [tool("login"), tool("rate", [], "bank")]),
    ).toEqual(["shop.pay requires shop.login", "shop.pay requires bank.rate"]);
  });

  it("does not look for a bare name in another namespace", () => {
    expect(companions([tool("pay", requires("rate"))], [tool("rate", [], "bank")])).toEqual([]);
  });

  it("follows requirements of requirements and survives cycles", () => {
    const a = tool("a", requires("b"));
    const b = tool("b", requires("c"));
    const c = tool("c", requires("a", "b"));
    expect(companions([a], [b, c])).toEqual(["shop.a requires shop.b", "shop.b requires shop.c"]);
  });

  it("goes beyond the limit for what is required", () => {
    expect(companions([tool("a", requires("b"))], [tool("b")], { limit: 1 })).toEqual(["shop.a requires shop.b"]);
  });

  it("brings nothing twice and nothing the filter refuses", () => {
    const chosen = [tool("a", requires("b", "c")), tool("b", requires("c")), tool("d", requires("c", "secret"))];
    const accept = (entry: Tool): boolean => entry.name !== "secret";
    expect(companions(chosen, [tool("c"), tool("secret")], { accept })).toEqual(["shop.a requires shop.c"]);
  });

  it("adds suggestions last and only while there is room", () => {
    const chosen = [tool("a", suggests("x", "y", "z")), tool("b", requires("c"))];
    const others = [tool("c"), tool("x"), tool("y"), tool("z")];
    expect(companions(chosen, others)).toEqual([
      "shop.b requires shop.c",
      "shop.a suggests shop.x",
      "shop.a suggests shop.y",
    ]);
    expect(companions(chosen, others, { limit: 3 })).toEqual(["shop.b requires shop.c"]);
  });

  it("brings what a suggestion requires, but not what it suggests", () => {
    const others = [tool("x", [...requires("y"), ...suggests("z")]), tool("y"), tool("z")];
    expect(companions([tool("a", suggests("x"))], others)).toEqual([
      "shop.a suggests shop.x",
      "shop.x requires shop.y",
    ]);
  });

  it("brings nothing that conflicts with a tool already there, whichever of the two says so", () => {
    const chosen = [tool("a", requires("x", "y")), tool("b", conflicts("x"))];
    expect(companions(chosen, [tool("x"), tool("y", conflicts("b"))])).toEqual([]);
  });
});

describe("dropConflicts", () => {
  const signals = {
    semantic: 0,
    intent: 0,
    conversation: 0,
    health: 0,
    cost: 0,
    alreadyUsedPenalty: 0,
    alreadyFailedPenalty: 0,
    deprecatedPenalty: 0,
  };
  const ranked = (...tools: readonly Tool[]): readonly Candidate[] =>
    tools.map((entry, index) => ({
      tool: entry,
      score: 1 - index / 10,
      semanticScore: 1 - index / 10,
      signals,
      matchedTerms: () => [],
    }));
  const kept = (...tools: readonly Tool[]): readonly string[] =>
    dropConflicts(ranked(...tools)).kept.map((candidate) => candidate.tool.name);

  it("keeps the better of two, whichever declares the conflict", () => {
    expect(kept(tool("a", conflicts("b")), tool("b"), tool("c"))).toEqual(["a", "c"]);
    expect(kept(tool("a"), tool("b", conflicts("a")), tool("c"))).toEqual(["a", "c"]);
  });

  it("lets a tool stay whose only rival was itself dropped", () => {
    expect(kept(tool("a"), tool("b", conflicts("a", "c")), tool("c"))).toEqual(["a", "c"]);
  });

  it("names the tool that stayed", () => {
    const result = dropConflicts(ranked(tool("a", conflicts("b")), tool("b")));
    expect([...result.conflicts]).toEqual([["shop.b", "shop.a"]]);
  });

  it("does not confuse a name with the same name elsewhere", () => {
    expect(kept(tool("a", conflicts("b")), tool("b", [], "bank"))).toEqual(["a", "b"]);
  });
});
