import { describe, expect, it } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../src/errors/codes.ts";
import { toWire } from "../../src/errors/to-wire.ts";
import { read } from "./project.ts";

const codes = Object.keys(ERROR_CODES) as ErrorCode[];
const [page = ""] = read("docs/reference/errors.md").split(/^## Read next$/m);
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf("\n")).trim(), section] as const),
);

describe("error codes", () => {
  it("are exactly the sections of docs/reference/errors.md, in the same order [002-errors-closed-list]", () => {
    expect(
      [...sections.keys()],
      "Give docs/reference/errors.md one `## CODE` section for each code of src/errors/codes.ts",
    ).toEqual(codes);
  });

  it.each(codes)("%s is told with its meaning, an example message and what to do", (code) => {
    const section = sections.get(code) ?? "";
    expect(section, "the meaning of src/errors/codes.ts, word for word").toContain(ERROR_CODES[code]);
    expect(section, "when it happens").toContain("**When:**");
    expect(section, "an example message in a code block").toMatch(/```text\n[^`]+\n```/);
    expect(section, "what to do").toContain("**What to do:**");
  });

  it.each(codes)("%s has an HTTP status and a JSON-RPC code", (code) => {
    const { httpStatus, jsonRpcCode } = toWire(code);
    expect(httpStatus).toBeGreaterThanOrEqual(400);
    expect(httpStatus).toBeLessThan(600);
    expect(jsonRpcCode).toBeLessThan(0);
  });

  it("are shown being handled in the first screen of the page", () => {
    expect(page.split("\n").slice(0, 40).join("\n")).toMatch(/```ts\n[^`]*\.code/);
  });
});
