import { describe, expect, it } from "vitest";
import { baseForms, isContentless, wordsOf } from "./words.ts";

describe("wordsOf", () => {
  it("splits at everything that is neither letter nor digit, in lower case", () => {
    expect(wordsOf("Run send_email, 2x: früh!")).toEqual(["run", "send", "email", "2x", "früh"]);
  });
  it("finds none in punctuation", () => {
    expect(wordsOf(" ?! ")).toEqual([]);
  });
});

describe("baseForms", () => {
  it.each([
    ["queries", "query"],
    ["notified", "notify"],
    ["messages", "message"],
    ["emails", "email"],
    ["emailed", "email"],
    ["creating", "create"],
    ["deleted", "delete"],
    ["getting", "get"],
    ["settings", "setting"],
    ["searches", "search"],
  ])("takes %s back to %s", (word, base) => {
    expect(baseForms(word)).toContain(base);
  });
  it("leaves short words alone", () => {
    expect(baseForms("us")).toEqual(["us"]);
    expect(baseForms("king")).toEqual(["king"]);
    expect(baseForms("red")).toEqual(["red"]);
  });
});

describe("isContentless", () => {
  it("is true where nothing is named", () => {
    expect(isContentless("Do it again, please")).toBe(true);
    expect(isContentless("???")).toBe(true);
  });
  it("is false as soon as something is", () => {
    expect(isContentless("email it")).toBe(false);
    expect(isContentless("再发一次")).toBe(false);
  });
});
