import { describe, expect, it } from "vitest";
import { stem } from "./stem.ts";

describe("stem", () => {
  it.each([
    ["query", "queries", "querying", "queried"],
    ["file", "files", "filing", "filed"],
    ["calculate", "calculates", "calculating", "calculated"],
    ["stop", "stops", "stopping", "stopped"],
    ["search", "searches", "searching", "searched"],
    ["box", "boxes", "boxing", "boxed"],
    ["install", "installs", "installing", "installed"],
  ])("lets the forms of %s meet", (...forms) => {
    expect(new Set(forms.map(stem)).size).toBe(1);
  });

  it.each([
    ["string", "str"],
    ["status", "statu"],
    ["address", "addres"],
    ["need", "ne"],
    ["news", "new"],
    ["speed", "spe"],
  ])("does not confuse %s with %s", (word, other) => {
    expect(stem(word)).not.toBe(other);
  });

  it("leaves short words alone", () => {
    expect(["is", "gas", "ed", "sql"].map(stem)).toEqual(["is", "gas", "ed", "sql"]);
  });
});
