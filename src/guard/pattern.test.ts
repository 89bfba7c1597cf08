import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { compilePatterns, type NamedTool } from "./pattern.ts";

function named(name: string, { namespace = "default", sourceName = name } = {}): NamedTool {
  return { name, id: `${namespace}.${name}`, sourceName };
}

/** Says what a pattern means in the plainest way there is, in exponential time. */
function naive(pattern: readonly string[], text: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return text.length === 0;
  if (first === "*") return naive(rest, text) || (text.length > 0 && naive(pattern, text.slice(1)));
  return text.length > 0 && (first === "?" || first === text[0]) && naive(rest, text.slice(1));
}

function errorOf(run: () => unknown): ArsenalError {
  try {
    run();
  } catch (error) {
    if (error instanceof ArsenalError) return error;
  }
  throw new Error("No ArsenalError was thrown.");
}

describe("compilePatterns", () => {
  it("returns the first pattern that matches", () => {
    const match = compilePatterns(["payment_*", "delete_*", "*"]);
    expect(match(named("delete_user"))).toBe("delete_*");
    expect(match(named("read_user"))).toBe("*");
  });

  it("matches nothing where there are no patterns", () => {
    expect(compilePatterns([])(named("delete_user"))).toBeUndefined();
  });

  it("compares with the bare name, the id and the source's own name [000-6.2-patterns]", () => {
    const tool = named("remove_row", { namespace: "crm", sourceName: "drop-row" });
    expect(compilePatterns(["remove_*"])(tool)).toBe("remove_*");
    expect(compilePatterns(["crm.*"])(tool)).toBe("crm.*");
    expect(compilePatterns(["drop-*"])(tool)).toBe("drop-*");
    expect(compilePatterns(["erase_*"])(tool)).toBeUndefined();
  });

  it("matches whole names only", () => {
    const match = compilePatterns(["refund_*"]);
    expect(match(named("process_refund_now"))).toBeUndefined();
    expect(match(named("refund_"))).toBe("refund_*");
  });

  it("takes ? for exactly one character, also one outside the basic plane [000-6.2-patterns]", () => {
    const match = compilePatterns(["get_?"]);
    expect(match(named("get_a"))).toBe("get_?");
    expect(match(named("get_"))).toBeUndefined();
    expect(match(named("get_ab"))).toBeUndefined();
    expect(match(named("x", { sourceName: "get_🌍" }))).toBe("get_?");
  });

  it("ignores case and the space around a pattern", () => {
    expect(compilePatterns([" Delete_* "])(named("x", { sourceName: "DELETE_all" }))).toBe("Delete_*");
  });

  it("takes the characters of a regular expression literally", () => {
    expect(compilePatterns(["a.c"])(named("abc"))).toBeUndefined();
    expect(compilePatterns(["(a|b)+"])(named("a"))).toBeUndefined();
    expect(compilePatterns(["[a]"])(named("x", { sourceName: "[a]" }))).toBe("[a]");
  });

  it("does not let a source name pass for an id where matching grants something", () => {
    const impostor = named("anything", { namespace: "evil", sourceName: "github.create_issue" });
    expect(compilePatterns(["github.*"])(impostor)).toBe("github.*");
    expect(compilePatterns(["github.*"], { grants: true })(impostor)).toBeUndefined();
    expect(compilePatterns(["github.*"], { grants: true })(named("x", { namespace: "github" }))).toBe("github.*");
    expect(compilePatterns(["get-it"], { grants: true })(named("get_it", { sourceName: "get-it" }))).toBe("get-it");
  });

  it("agrees with the plain meaning of a pattern", () => {
    const letters = fc.array(fc.constantFrom("a", "b", "_"), { maxLength: 8 });
    const pattern = fc.array(fc.constantFrom("a", "b", "_", "*", "?"), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(pattern, letters, (written, text) => {
        const name = text.join("");
        const tool = { name, id: name, sourceName: name };
        expect(compilePatterns([written.join("")])(tool) !== undefined).toBe(naive(written, text));
      }),
    );
  });

  it("answers a hostile pattern, which would keep a backtracking matcher busy for ever", () => {
    const match = compilePatterns([`${"*a".repeat(30)}*b`]);
    expect(match(named("a".repeat(2_000)))).toBeUndefined();
    expect(match(named(`${"a".repeat(2_000)}b`))).toBe(`${"*a".repeat(30)}*b`);
  });

  it("takes little time for any pattern and any name", () => {
    const piece = fc.constantFrom("*", "*a", "a", "?", "aab", "*aa?", "b");
    const pattern = fc.array(piece, { minLength: 1, maxLength: 250 }).map((pieces) => pieces.join("").slice(0, 1_000));
    const name = fc.array(fc.constantFrom("a", "aa", "ab"), { maxLength: 1_000 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(pattern, name, (written, text) => {
        const match = compilePatterns([written, `${written}!`]);
        const before = process.threadCpuUsage();
        match(named(text));
        const { user, system } = process.threadCpuUsage(before);
        expect((user + system) / 1_000).toBeLessThan(100);
      }),
    );
  });

  it("refuses a pattern that is too long, with its length and the limit", () => {
    const error = errorOf(() => compilePatterns([`*${"a".repeat(1_000)}`], { field: "security.deny" }));
    expect(error.message).toContain("security.deny.0 has 1001 characters, and a pattern may have 1000.");
  });

  it("compares each tool once", () => {
    let reads = 0;
    const tool: NamedTool = {
      id: "default.delete_user",
      sourceName: "delete_user",
      get name() {
        reads++;
        return "delete_user";
      },
    };
    const match = compilePatterns(["delete_*"]);
    expect([match(tool), match(tool)]).toEqual(["delete_*", "delete_*"]);
    expect(reads).toBe(1);
  });

  it.each([[""], ["  "], [7], [null], [undefined]])(
    "refuses the pattern %j, naming field, value and fix",
    (pattern) => {
      const error = errorOf(() => compilePatterns(["ok", pattern as string], { field: "security.deny" }));
      expect(error.code).toBe("CONFIG_INVALID");
      expect(error.message).toContain("security.deny.1");
      expect(error.details).toMatchObject({ field: "security.deny.1", value: pattern });
      expect(error.details.fix).toContain("delete_*");
    },
  );

  it("refuses what is not a list", () => {
    const error = errorOf(() => compilePatterns("delete_*" as unknown as string[], { field: "security.deny" }));
    expect(error.details).toMatchObject({ field: "security.deny", value: "delete_*" });
  });
});
