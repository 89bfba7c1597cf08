import formats from "ajv-formats/dist/formats.js";
import { describe, expect, it } from "vitest";
import { formatOf } from "./formats.ts";

const NAMES = [
  "date",
  "time",
  "date-time",
  "iso-time",
  "iso-date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
  "uri",
  "uri-reference",
  "uri-template",
  "url",
  "json-pointer",
  "json-pointer-uri-fragment",
  "relative-json-pointer",
  "regex",
  "byte",
];

/** Texts on which we differ on purpose. */
const DIFFERENT: Readonly<Record<string, readonly string[]>> = {
  // Theirs knows no IPv6 hosts, and no private ones.
  url: ["http://localhost:3000/", "http://[::1]/"],
};

/** Texts that are one of the formats, or nearly. */
const TEXTS = [
  ..."2024-02-29 2023-02-29 1900-02-29 2000-02-29 0004-02-29 2024-13-01 2024-00-10 2024-1-1 2024-04-31 24-01-01".split(
    " ",
  ),
  ..."12:30:00Z 12:30:00 24:00:00Z 23:59:60Z 22:59:60Z 12:30:61Z 01:29:60+01:30 12:30:00.5+02:00 12:30Z 12:30:00+24:00".split(
    " ",
  ),
  ..."2024-01-02T03:04:05Z 2024-01-02t03:04:05z 2024-01-02T03:04:05 2024-01-02 2024-01-02T25:00:00Z T P1D P PT PT1H P1W P1WT1H P1Y2M3DT4H5M6S 1D".split(
    " ",
  ),
  "2024-01-02 03:04:05Z",
  "2024-01-02 03:04:05",
  "http://localhost:3000/",
  ..."a@b.de a.b+c@d-e.co.uk a@b a..b@c.de .a@b.de a@-b.de a@b-.de @b.de a@ aé@b.de".split(" "),
  ..."localhost a.b.c a-.b -a.b a..b a. example.com ex_ample.com".split(" "),
  ..."1.2.3.4 256.1.1.1 1.2.3 01.2.3.4 ::1 fe80::1 1::2::3 ::ffff:1.2.3.4 fe80::1%eth0 12345::".split(" "),
  ..."123e4567-e89b-12d3-a456-426614174000 urn:uuid:123e4567-e89b-12d3-a456-426614174000 123e4567 123E4567-E89B-12D3-A456-42661417400G".split(
    " ",
  ),
  ..."http://a.de http://a.de/x?y=1#z http://u:p@a.de:80/ mailto:a@b.de urn:a:b file:///etc http://[::1]/ http://a.de/ä http://a.de/% http://a.de/%41 a/b ../x ?q #f //a.de/x a:b /x".split(
    " ",
  ),
  "http://a.de/x y",
  "",
  ..."http://{host}/x {?q,r*} {x:3} {x {} /a~0b/c~1d /a~2 0#/ 1/a 01/a 0# #/a%20b #/a b ( [a-z]+ a{2,1} YWJj YWI= YQ== YQ= ab*d".split(
    " ",
  ),
];

describe("formats", () => {
  it.each(NAMES)("%s means what Ajv's package means by it", (name) => {
    const given = (formats.fullFormats as Record<string, unknown>)[name];
    const rule = typeof given === "object" && given !== null && "validate" in given ? given.validate : given;
    const theirs = (text: string): boolean =>
      rule instanceof RegExp ? rule.test(text) : (rule as (text: string) => boolean)(text);
    const differs = TEXTS.filter((text) => formatOf(name)?.test(text) !== theirs(text));
    expect(differs).toEqual(DIFFERENT[name] ?? []);
  });

  it("numbers have formats too, and unknown formats have no check", () => {
    expect(formatOf("int32")).toMatchObject({ type: "number" });
    expect([2 ** 31 - 1, 2 ** 31, 1.5].map((value) => formatOf("int32")?.test(value))).toEqual([true, false, false]);
    expect([2 ** 40, 1.5].map((value) => formatOf("int64")?.test(value))).toEqual([true, false]);
    expect(formatOf("made-up")).toBeUndefined();
  });

  it.each(NAMES)("%s is decided at once for texts made to be slow", (name) => {
    const parts = ["a", "a.", "a@", "a-", "%20", "//", "[", "0:", "1", "P1Y", "{a}", "http://a:", "\u00a1", "/~0"];
    const started = process.threadCpuUsage();
    for (const part of parts) {
      for (const before of ["", "a@", "http://", "//", "P", "{"]) {
        for (const length of [2_000, 100_000]) formatOf(name)?.test(`${before}${part.repeat(length / part.length)}!`);
      }
    }
    // A backtracking expression takes minutes.
    expect(process.threadCpuUsage(started).user / 1_000, name).toBeLessThan(5_000);
  });

  it("accept a long text as a uri, of which there are long ones, and not as a date", () => {
    expect(formatOf("uri")?.test(`data:text/plain,${"x".repeat(100_000)}`)).toBe(true);
    expect(formatOf("date")?.test("2".repeat(100_000))).toBe(false);
  });
});
