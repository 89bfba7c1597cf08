import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./redactor.ts";
import { repeats } from "../../../test/kit/effort.ts";

const SECRET = "pa ss/w+rd&é\"ü~!'";

function knowing(...secrets: readonly string[]): ReturnType<typeof createRedactor> {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const form = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);
const lowerCase = (percent: string): string => percent.replaceAll(/%../g, (octet) => octet.toLowerCase());
const html = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("'", "&#39;").replaceAll("é", "&#xE9;");
const ascii = (text: string): string => json(text).replace("é", "\\u00e9").replace("ü", "\\u00FC");

describe("a redactor", () => {
  it("redacts a member name that it found clean before the secret was added", () => {
    const redactor = createRedactor();
    const value = { "token-of-mine": 1 };
    expect(redactor.value(value)).toBe(value);
    redactor.add("token-of-mine");
    expect(redactor.value(value)).toEqual({ "[redacted]": 1 });
  });

  it.each([
    ["as it is", SECRET],
    ["in base64", base64(SECRET)],
    ["in base64url", Buffer.from(SECRET).toString("base64url")],
    ["in base64 of base64", base64(base64(SECRET))],
    ["in base64 in lines", base64(SECRET).replaceAll(/.{10}/g, "$&\r\n")],
    ["in base64 in an address", encodeURIComponent(base64(SECRET))],
    ["in base64, percent-encoded before", base64(encodeURIComponent(SECRET))],
    ["in base64, as in a form before", base64(form(SECRET))],
    ["in base64, in JSON before", base64(json(SECRET))],
    ["percent-encoded", encodeURIComponent(SECRET)],
    ["percent-encoded in lower case", lowerCase(encodeURIComponent(SECRET))],
    ["percent-encoded in both cases", encodeURIComponent(SECRET).replace("%C3", "%c3").replace("%2F", "%2f")],
    ["percent-encoded strictly", encodeURIComponent(SECRET).replaceAll("!", "%21").replaceAll("'", "%27")],
    ["percent-encoded here and there", encodeURI(SECRET)],
    ["percent-encoded twice", encodeURIComponent(encodeURIComponent(SECRET))],
    ["percent-encoded three times", encodeURIComponent(encodeURIComponent(encodeURIComponent(SECRET)))],
    ["in a form", form(SECRET)],
    ["in a form in an address", encodeURIComponent(form(SECRET))],
    ["in JSON", json(SECRET)],
    ["in JSON in JSON", json(json(SECRET))],
    ["in JSON in JSON in JSON", json(json(json(SECRET)))],
    ["in JSON in ASCII", ascii(SECRET)],
    ["in JSON in ASCII in JSON", json(ascii(SECRET))],
    ["in JSON with escaped slashes", json(SECRET).replaceAll("/", "\\/")],
    ["in JSON that is safe in HTML", json(SECRET).replace("&", "\\u0026")],
    ["in JSON in an address", encodeURIComponent(json(SECRET))],
    ["in HTML", html(SECRET)],
    ["in bytes of a language", SECRET.replace("é", "\\xc3\\xa9")],
    ["with accents apart", SECRET.normalize("NFD")],
    ["in hex", Buffer.from(SECRET).toString("hex")],
    ["in hex in upper case", Buffer.from(SECRET).toString("hex").toUpperCase()],
  ])("takes a secret out that is written %s", (_how, written) => {
    expect(knowing(SECRET).text(`before <${written}> after`)).toBe("before <[redacted]> after");
  });

  it.each([
    ["characters of expressions", "^a.*b+(c|d)[e]{2}$\\1"],
    ["escapes of its own", String.raw`abc\ndef%41&amp;\u0041`],
    ["half of a character", "half \uD83D of one"],
    ["accents apart", "cafe\u0301-cre\u0300me"],
    ["six characters", "a-1&b2"],
    ["sixty thousand characters", Array.from({ length: 11_000 }, (_, number) => `${number}/`).join("")],
  ])("takes a secret with %s out, however it is written", (_what, secret) => {
    const redactor = knowing(secret);
    const wellFormed = secret.toWellFormed();
    const ways = [secret, json(secret), json(json(secret)), encodeURIComponent(wellFormed), base64(secret)];
    expect(ways.map((way) => redactor.text(`<${way}>`))).toEqual(ways.map(() => "<[redacted]>"));
  });

  it("takes a secret with accents apart out where they are not", () => {
    expect(knowing("cafe\u0301-cre\u0300me").text("<caf\u00E9-cr\u00E8me>")).toBe("<[redacted]>");
  });

  it("takes out what a secret in one line says in several", () => {
    const redactor = knowing(String.raw`first line of the secret\nsecond line of the secret`);
    expect(
      ["first line of the secret\nsecond line of the secret", "| second line of the secret"].map(redactor.text),
    ).toEqual(["[redacted]", "| [redacted]"]);
  });

  it("leaves alone what is left of a secret's escapes where that is a word", () => {
    expect(knowing("%61%62%63%64%65").text("abcde %61%62%63%64%65")).toBe("abcde [redacted]");
    expect(knowing("%61%62%63%64%65%66").text("abcdef")).toBe("[redacted]");
  });

  it("keeps the lines of a text", () => {
    const redactor = knowing("s3cr3t-value");
    expect(redactor.text("a\ns3cr3t-value\nb s3cr3t-\nvalue\n")).toBe("a\n[redacted]\nb [redacted]\n");
    expect(redactor.text("s3cr3t%2Dvalue\ns3cr3t%2Dvalue\n")).toBe("[redacted]\n[redacted]\n");
  });

  it("knows base64url by its own characters", () => {
    // In base64 "fn5+Pj4+Pz8/".
    expect(knowing("~~~>>>???").text("<fn5-Pj4-Pz8_> <fn5+Pj4+Pz8/>")).toBe("<[redacted]> <[redacted]>");
  });

  it("undoes escapes four times, and no more: a text may hold as many layers as it has characters", () => {
    const redactor = knowing("s3cr3t-value");
    expect(redactor.text("s3cr3t%2525252Dvalue")).toBe("[redacted]");
    expect(redactor.text("s3cr3t%252525252Dvalue")).toBe("s3cr3t%252525252Dvalue");
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

  it("takes out what is known, what is escaped and what only looks like a secret, in the order they stand", () => {
    const text = `${["AKIA", "ABCDEFGH12345678"].join("")}, s3cr3t%2Dvalue, s3cr3t-value`;
    expect(knowing("s3cr3t-value").text(text)).toBe("[redacted], [redacted], [redacted]");
  });

  it("takes out the longer of two that begin alike", () => {
    expect(knowing("abcdef", "abcdefgh").text("abcdefgh abcdefg")).toBe("[redacted] [redacted]g");
  });

  it("takes out each long line of a secret of several lines", () => {
    const key = "first line of the secret\r\nshort\nline of sixteen.\nline of fifteen";
    const redactor = knowing(key);
    expect(["a first line of the secret", "short", "line of sixteen.", "line of fifteen"].map(redactor.text)).toEqual([
      "a [redacted]",
      "short",
      "[redacted]",
      "line of fifteen",
    ]);
  });

  it("leaves secrets of fewer than six characters alone and says so", () => {
    const redactor = createRedactor();
    expect([redactor.add("12345"), redactor.add("123456"), redactor.add("123456")]).toEqual([false, true, true]);
    expect(redactor.text("12345 123456")).toBe("12345 [redacted]");
  });

  it("finds any secret in any text, in JSON and in an address", () => {
    const secret = fc.string({ minLength: 6, maxLength: 40, unit: "binary" });
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 5 }),
        fc.string(),
        fc.string(),
        (secrets, before, after) => {
          const redactor = knowing(...secrets);
          const ways = secrets.flatMap((each) => [each, json(each), encodeURIComponent(each.toWellFormed())]);
          const texts = ways.map((way) => redactor.text(`${before} ${way} ${after}`));
          expect(texts.filter((text, index) => text.includes(ways[index] ?? ""))).toEqual([]);
        },
      ),
      { numRuns: repeats(30) },
    );
  });

  it("redacts data and errors", () => {
    const redactor = knowing("s3cr3t-value");
    expect(redactor.value({ "x-s3cr3t-value": ["s3cr3t-value"] })).toEqual({ "x-[redacted]": ["[redacted]"] });
    expect(redactor.error(new Error("was s3cr3t-value")).message).toBe("was [redacted]");
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

  const split = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 12 });
  /** What is left to read of a text that comes in parts. */
  function shownOf(secret: string, text: string, places: readonly number[]): string {
    const at = [0, ...places.filter((place) => place < text.length).toSorted((a, b) => a - b), text.length];
    const stream = knowing(secret).stream();
    const shown = at.slice(1).map((end, index) => stream(text.slice(at[index], end)));
    return shown.join("").replaceAll("[redacted]", "");
  }

  it("shows at most three characters of a secret's beginning, however it is split", () => {
    const secret = "0123456789abcdefghij";
    fc.assert(
      fc.property(split, (places) => {
        const rest = shownOf(secret, `before (${secret}) after`, places);
        expect(["before () after", "before (0) after", "before (01) after", "before (012) after"]).toContain(rest);
      }),
    );
  });

  it.each([
    ["percent-encoded", "012/456/é89/bc", encodeURIComponent("012/456/é89/bc")],
    ["percent-encoded twice", "012/456/é89", encodeURIComponent(encodeURIComponent("012/456/é89"))],
    ["in JSON", 'abc"def"ghi\\jkl', json('abc"def"ghi\\jkl')],
    ["in JSON in ASCII", "abc\u00E9def\u00FCgh", String.raw`abc\u00e9def\u00fcgh`],
    ["in HTML", "abc&def<ghi>jk", "abc&amp;def&lt;ghi&gt;jk"],
  ])("shows as little of one that is %s", (_how, secret, written) => {
    fc.assert(
      fc.property(split, (places) => {
        const rest = shownOf(secret, `before (${written}) after`, places);
        expect(rest).toMatch(/^before \(.*\) after$/);
        // Three characters, and what the fourth is escaped with.
        expect(rest.length).toBeLessThanOrEqual("before (012%25C3%2) after".length);
      }),
    );
  });

  it("shows no more of a long one that comes a few characters at a time", () => {
    const secret = Array.from({ length: 40 }, (_, number) => `${number}/`).join("");
    const parts = encodeURIComponent(secret).match(/.{1,10}/g) ?? [];
    expect(parts).toHaveLength(19);
    expect(parts.map(knowing(secret).stream())).toEqual(parts.map(() => "[redacted]"));
  });

  it("shows lines of a secret, even the short ones, no more than its beginning", () => {
    const stream = knowing("-----BEGIN-----\nshort\nlast\n-----END-----").stream();
    expect(["-----BEGIN-----", "short", "last", "-----END-----", "last"].map(stream)).toEqual([
      "[redacted]",
      "[redacted]",
      "[redacted]",
      "[redacted]",
      "last",
    ]);
  });

  it("shows parts as they are where nothing is secret", () => {
    const stream = createRedactor().stream();
    expect(["half ", "done", ""].map(stream)).toEqual(["half ", "done", ""]);
  });

  it("takes out what looks like a secret", () => {
    const stream = createRedactor().stream();
    expect(stream(`key ${["AKIA", "ABCDEFGH12345678"].join("")}!`)).toBe("key [redacted]!");
  });
});

describe("a redactor of answers", () => {
  const KEY = ["AKIA", "ABCDEFGH12345678"].join("");

  it("takes out what it knows and leaves what only looks like a secret", () => {
    const { known } = knowing("upstream-secret");
    const given = { upstream: "was upstream-secret", encoded: base64("upstream-secret"), key: KEY };
    expect(known.value(given)).toEqual({ upstream: "was [redacted]", encoded: "[redacted]", key: KEY });
  });

  it.each([[], ["upstream-secret"]])(
    "returns the same object when nothing in it is known, knowing %j",
    (...secrets) => {
      const given = { key: KEY, list: [{ text: "a long line of text" }], blob: base64("anything") };
      expect(knowing(...secrets).known.value(given)).toBe(given);
    },
  );

  it("leaves base64 valid where the protocol demands it", () => {
    const { known } = knowing("upstream-secret");
    const inside = base64("it is the upstream-secret");
    expect(known.value({ blob: inside, data: inside, text: inside })).toEqual({
      blob: base64("[redacted]"),
      data: base64("[redacted]"),
      text: expect.stringContaining("[redacted]"),
    });
    expect(known.value({ data: "my upstream-secret", blob: 5 })).toEqual({ data: "my [redacted]", blob: 5 });
  });

  it("keeps data that is nested deep, unless a secret is in it", () => {
    const { known } = knowing("upstream-secret");
    const nested = (text: string): unknown => {
      let value: unknown = text;
      for (let depth = 0; depth < 300; depth++) value = [value];
      return value;
    };
    const given = nested("nothing to hide");
    expect(known.value(given)).toBe(given);
    expect(JSON.stringify(known.value(nested("upstream-secret")))).not.toContain("upstream-secret");
  });

  it("undoes one layer of escapes in a text of megabytes", () => {
    const { known } = knowing("upstream/secret");
    const given = `${"a line of text\n".repeat(80_000)}upstream%2Fsecret`;
    expect(known.value({ given }).given.endsWith("[redacted]")).toBe(true);
  });
});
