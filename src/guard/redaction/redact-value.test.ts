import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { redactValue } from "./redact-value.ts";

const redact = (text: string): string => text.replaceAll("s3cr3t", "[redacted]");

describe("redacting data", () => {
  it("takes secrets out at any depth, out of names too, and leaves the rest as it is", () => {
    const untouched = { list: [1, null, "plain"], at: new Date(0) };
    const given = { first: 1, deep: [{ before: 2, "x-s3cr3t": 1, text: "= s3cr3t" }, "plain"], untouched };
    const shown = redactValue(given, redact);
    expect(shown).toEqual({
      first: 1,
      deep: [{ before: 2, "x-[redacted]": 1, text: "= [redacted]" }, "plain"],
      untouched,
    });
    expect(shown.untouched).toBe(untouched);
    expect(given.deep[0]).toEqual({ before: 2, "x-s3cr3t": 1, text: "= s3cr3t" });
  });

  it("looks at little of what is shared again and again before it keeps track", () => {
    let looks = 0;
    let shared: unknown = "plain";
    for (let level = 0; level < 30; level++) shared = Array.from({ length: 10 }, () => shared);
    expect(redactValue(shared, (text) => (looks++, text))).toBe(shared);
    expect(looks).toBeLessThan(2000);
  });

  it("gives the same data where there is nothing to take out", () => {
    for (const given of [undefined, null, 1, true, [], {}, { list: [{ text: "plain" }] }, new Map([["s3cr3t", 1]])])
      expect(redactValue(given, redact)).toBe(given);
  });

  it("takes secrets out of objects without a prototype, and not out of what has a class", () => {
    const bare: object = Object.assign(Object.create(null), { text: "s3cr3t" });
    class Connection {
      readonly text = "s3cr3t";
    }
    const connection = new Connection();
    expect(redactValue({ bare, connection }, redact)).toEqual({ bare: { text: "[redacted]" }, connection });
  });

  it("changes what is held twice in both places, and cuts off what holds itself", () => {
    const shared = ["s3cr3t"];
    const given: Record<string, unknown> = { one: shared, other: shared };
    given["self"] = given;
    expect(redactValue(given, redact)).toEqual({ one: ["[redacted]"], other: ["[redacted]"], self: "[redacted]" });
  });

  it("cuts off what is nested deeper than two hundred levels", () => {
    const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}"plain"${"]".repeat(levels)}`);
    const shallow = nested(200);
    expect(redactValue(shallow, redact)).toBe(shallow);
    expect(JSON.stringify(redactValue(nested(100_000), redact))).toBe(
      `${"[".repeat(200)}"[redacted]"${"]".repeat(200)}`,
    );
  });
});

describe("redacting an error", () => {
  it("changes message, stack, details and causes in place", () => {
    const inner = new AggregateError([new Error("s3cr3t inside"), "s3cr3t alone"], "one of them");
    const error = new ArsenalError("EXECUTION_FAILED", "was s3cr3t", { value: "s3cr3t", cause: inner });
    expect(redactValue(error, redact)).toBe(error);
    expect([error.message, error.details, error.code, error.cause]).toEqual([
      "was [redacted]",
      { value: "[redacted]" },
      "EXECUTION_FAILED",
      inner,
    ]);
    expect([inner.errors[0].message, inner.errors[1]]).toEqual(["[redacted] inside", "[redacted] alone"]);
    const stacks = [error.stack, inner.errors[0].stack].join();
    expect([stacks.includes("s3cr3t"), stacks.includes("redact-value.test")]).toEqual([false, true]);
  });

  it("lists no more members than before", () => {
    const error = Object.assign(new Error("s3cr3t", { cause: "s3cr3t" }), { listed: "s3cr3t" });
    expect({ ...redactValue(error, redact) }).toEqual({ listed: "[redacted]" });
    expect(error.cause).toBe("[redacted]");
  });

  it("changes errors that stand in data or in a member of an error", () => {
    const inner = new Error("s3cr3t inner");
    const error = Object.assign(new Error("outer"), { response: { error: inner } });
    redactValue({ failures: [error] }, redact);
    expect(inner.message).toBe("[redacted] inner");
  });

  it("changes a message that is not the error's own member", () => {
    expect(redactValue(new DOMException("s3cr3t"), redact).message).toBe("[redacted]");
  });

  it("ends at an error that causes itself", () => {
    const error = new Error("s3cr3t");
    error.cause = { error };
    redactValue(error, redact);
    expect([error.message, error.cause]).toEqual(["[redacted]", { error }]);
  });

  it("can change what it has changed before", () => {
    const error = redactValue(new Error("s3cr3t and more"), redact);
    expect(redactValue(error, (text) => text.replaceAll("more", "less")).message).toBe("[redacted] and less");
    error.message = "another";
    expect(error.message).toBe("another");
  });

  it("puts another of its class in the place of one that lets nothing be changed", () => {
    const frozen = Object.freeze(Object.assign(new TypeError("s3cr3t"), { code: "s3cr3t", cause: new Error("plain") }));
    const shown = redactValue({ error: frozen, again: frozen }, redact);
    expect(shown.error).toBeInstanceOf(TypeError);
    expect([shown.error.message, shown.error.code, shown.error.cause]).toEqual([
      "[redacted]",
      "[redacted]",
      frozen.cause,
    ]);
    expect(shown.error.stack).not.toContain("s3cr3t");
    expect(Object.keys(shown.error)).toEqual(Object.keys(frozen));
    expect(shown.again).toBe(shown.error);
  });

  it("leaves one alone that is frozen and holds no secret", () => {
    const frozen = Object.freeze(new Error("plain"));
    expect(redactValue(frozen, redact)).toBe(frozen);
  });

  it("shows nothing of a frozen one through what it holds of itself", () => {
    const outer = new Error("s3cr3t outside");
    const inner = Object.assign(new Error("s3cr3t inside"), { cause: outer });
    Object.freeze(Object.assign(outer, { cause: inner, list: [outer] }));
    const shown = redactValue(outer, redact) as typeof outer & { cause: Error; list: Error[] };
    expect(inspect(shown, { depth: 5 })).not.toContain("s3cr3t");
    expect([shown.message, shown.cause, shown.cause.cause, shown.list[0]]).toEqual([
      "[redacted] outside",
      inner,
      shown,
      shown,
    ]);
    expect(shown.cause.cause).toBe(shown);
  });

  it("keeps the name of a frozen one that only its class knows", () => {
    const shown = redactValue(Object.freeze(new DOMException("s3cr3t", "AbortError")), redact);
    expect(String(shown)).toBe("AbortError: [redacted]");
  });

  it("leaves a frozen one alone whose member is made anew each time it is read", () => {
    const error = new Error("plain");
    Object.defineProperty(error, "details", { get: () => ({ text: "plain" }) });
    expect(redactValue(Object.freeze(error), redact)).toBe(error);
  });

  it("changes one with a member that cannot be read", () => {
    const error = new Error("s3cr3t");
    Object.defineProperty(error, "details", {
      get: () => {
        throw new Error("s3cr3t");
      },
    });
    expect(redactValue(error, redact).message).toBe("[redacted]");
  });

  it("changes one that was made in another context", () => {
    const error = runInNewContext('new TypeError("s3cr3t", { cause: { text: "s3cr3t" } })') as TypeError;
    expect(redactValue({ error }, redact).error).toBe(error);
    expect([error.message, error.cause]).toEqual(["[redacted]", { text: "[redacted]" }]);
  });
});
