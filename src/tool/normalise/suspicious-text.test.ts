import { describe, expect, it } from "vitest";
import { suspiciousText } from "../draft.ts";

describe("suspiciousText", () => {
  it.each([
    ["Say {{ secret }} now", "a template placeholder {{…}}"],
    ["{{{{}}", "a template placeholder {{…}}"],
    ["Renders <SCRIPT src=x>", "a <script tag"],
    ["Opens JavaScript:alert(1)", "a javascript: address"],
  ])("finds it in %j [000-6.2-suspicious]", (text, what) => {
    expect(suspiciousText(text)).toBe(what);
  });

  it.each([
    "Takes { a: { b: 1 } } as input",
    "}} before {{",
    "{{ on one line\nand }} on another",
    "A script in JavaScript",
  ])("finds nothing in %j", (text) => {
    expect(suspiciousText(text)).toBeUndefined();
  });
});
