import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { createRedactor } from "./redactor.ts";
import { formsOf } from "./secret-forms.ts";

const SECRET = "pa ss/w+rd&é\"ü~!'";

function knowing(...secrets: readonly string[]): ReturnType<typeof createRedactor> {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a redactor", () => {
  it.each([
    ["as it is", SECRET],
    ["in base64", base64(SECRET)],
    ["in base64url", Buffer.from(SECRET).toString("base64url")],
    ["percent-encoded", encodeURIComponent(SECRET)],
    ["percent-encoded in lower case", encodeURIComponent(SECRET).replaceAll(/%../g, (octet) => octet.toLowerCase())],
    ["percent-encoded strictly", encodeURIComponent(SECRET).replaceAll("!", "%21").replaceAll("'", "%27")],
    ["in a form", new URLSearchParams({ x: SECRET }).toString().slice(2)],
    ["in JSON", JSON.stringify(SECRET).slice(1, -1)],
    ["in JSON in JSON", JSON.stringify(JSON.stringify(SECRET)).slice(3, -3)],
    ["in JSON in ASCII", JSON.stringify(SECRET).slice(1, -1).replace("é", "\\u00e9").replace("ü", "\\u00fc")],
    ["in hex", Buffer.from(SECRET).toString("hex")],
    ["in hex in upper case", Buffer.from(SECRET).toString("hex").toUpperCase()],
  ])("takes a secret out that is written %s", (_how, written) => {
    expect(knowing(SECRET).text(`before <${written}> after`)).toBe("before <[redacted]> after");
  });

  it("leaves no more than a rest of a secret inside any base64, wherever it stands there", () => {
    const others = fc.string({ unit: fc.constantFrom("X", "y", "0", "ß"), maxLength: 9 });
    fc.assert(
      fc.property(others, others, (before, after) => {
        const shown = knowing("s3cr3t-value").text(base64(`${before}s3cr3t-value${after}`));
        const left = shown.split("[redacted]").map((part) => Buffer.from(part, "base64").toString("latin1"));
        expect(shown).toContain("[redacted]");
        expect(left.join("|")).not.toMatch(/s3c|3cr|cr3|r3t|3t-|t-v|-va|val|alu|lue/);
      }),
    );
  });

  it("takes several secrets out, those that overlap as one", () => {
    expect(knowing("abcdef", "defghi").text("abcdef abcdefghi abcdefabcdef")).toBe(
      "[redacted] [redacted] [redacted][redacted]",
    );
  });

  it("takes out the longer of two that begin alike", () => {
    expect(knowing("abcdef", "abcdefgh").text("abcdefgh abcdefg")).toBe("[redacted] [redacted]g");
  });

  it("takes out each long line of a secret of several lines", () => {
    const key = "first line of the secret\nshort\nsecond line of the secret";
    const redactor = knowing(key);
    expect(["a first line of the secret", "short", "second line of the secret"].map(redactor.text)).toEqual([
      "a [redacted]",
      "short",
      "[redacted]",
    ]);
  });

  it("leaves secrets of fewer than six characters alone and says so", () => {
    const redactor = createRedactor();
    expect([redactor.add("12345"), redactor.add("123456"), redactor.text("12345 123456")]).toEqual([
      false,
      true,
      "12345 [redacted]",
    ]);
  });

  it("finds every form of any secret in any text", () => {
    const secret = fc.string({ minLength: 6, maxLength: 40, unit: "binary" });
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 5 }),
        fc.string(),
        fc.string(),
        (secrets, before, after) => {
          const redactor = knowing(...secrets);
          for (const form of secrets.flatMap((each) => [...formsOf(each)])) {
            expect(redactor.text(before + form + after)).not.toContain(form);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it("redacts plain data at any depth, names too, and leaves the rest as it is", () => {
    const redactor = knowing("s3cr3t-value");
    const untouched = { list: [1, null, "plain"], at: new Date(0) };
    const given = { deep: [{ "x-s3cr3t-value": 1, text: "= s3cr3t-value" }], untouched };
    const shown = redactor.value(given);
    expect(shown).toEqual({ deep: [{ "x-[redacted]": 1, text: "= [redacted]" }], untouched });
    expect(shown.untouched).toBe(untouched);
    expect(redactor.value(untouched)).toBe(untouched);
  });

  it("ends at data that holds itself", () => {
    const given: Record<string, unknown> = { text: "s3cr3t-value" };
    given["self"] = given;
    expect(knowing("s3cr3t-value").value(given)).toEqual({ text: "[redacted]", self: "[redacted]" });
  });

  it("redacts an error in place: message, stack, details and causes", () => {
    const inner = new AggregateError([new Error("s3cr3t-value inside")], "one of them");
    const error = new ArsenalError("EXECUTION_FAILED", "was s3cr3t-value", { value: "s3cr3t-value", cause: inner });
    expect(knowing("s3cr3t-value").error(error)).toBe(error);
    expect([error.message, error.details, error.code]).toEqual([
      "was [redacted]",
      { value: "[redacted]" },
      "EXECUTION_FAILED",
    ]);
    const all = [error.stack, inner.errors[0].message, inner.errors[0].stack].join();
    expect([all.includes("s3cr3t"), error.stack?.includes("redactor.test")]).toEqual([false, true]);
  });
});

describe("a stream of parts", () => {
  it("shows no secret that lies in several parts", () => {
    const stream = knowing("s3cr3t-value").stream();
    expect(["a s3cr", "3t-v", "alue b", "plain"].map(stream)).toEqual([
      "a [redacted]",
      "[redacted]",
      "[redacted] b",
      "plain",
    ]);
  });

  it("shows at most three characters of a secret's beginning, however it is split", () => {
    const secret = "0123456789abcdefghij";
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 39 }), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (places) => {
        const text = `before (${secret}) after`;
        const at = [0, ...places.toSorted((a, b) => a - b), text.length];
        const stream = knowing(secret).stream();
        const shown = at.slice(1).map((end, index) => stream(text.slice(at[index], end)));
        const rest = shown.join("").replaceAll("[redacted]", "");
        expect(["before () after", "before (0) after", "before (01) after", "before (012) after"]).toContain(rest);
      }),
    );
  });

  it("shows parts as they are where nothing is secret", () => {
    const stream = createRedactor().stream();
    expect(["half ", "done", ""].map(stream)).toEqual(["half ", "done", ""]);
  });
});
