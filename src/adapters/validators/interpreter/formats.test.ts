import { describe, expect, it } from "vitest";
import { safeFormats } from "./formats.ts";

describe("safeFormats", () => {
  it("knows the usual ones", () => {
    const formats = safeFormats();
    expect(formats.get("email")?.test("a@b.de")).toBe(true);
    expect(formats.get("email")?.test("nobody")).toBe(false);
    expect(formats.get("date")?.test("2024-02-30")).toBe(false);
    expect(formats.get("int32")?.test(2 ** 31)).toBe(false);
    expect(formats.get("int32")?.type).toBe("number");
  });

  it.each([...safeFormats()].filter(([, { type }]) => type === "string"))(
    "%s is decided at once for texts made to be slow",
    (name, format) => {
      const parts = ["a", "a.", "a@", "a-", "%20", "//", "[", "0:", "1", "P1Y", "{a}", "http://a:", "\u00a1", "/~0"];
      const started = performance.now();
      for (const part of parts) {
        for (const before of ["", "a@", "http://", "//", "P", "{"]) {
          for (const length of [2_000, 100_000]) format.test(`${before}${part.repeat(length / part.length)}!`);
        }
      }
      // A backtracking expression takes minutes; the margin is for a busy machine.
      expect(performance.now() - started, name).toBeLessThan(5_000);
    },
  );

  it("takes a long text for a uri, of which there are long ones, and not for a date", () => {
    expect(
      safeFormats()
        .get("uri")
        ?.test(`data:text/plain,${"x".repeat(100_000)}`),
    ).toBe(true);
    expect(safeFormats().get("date")?.test("2".repeat(100_000))).toBe(false);
  });
});
