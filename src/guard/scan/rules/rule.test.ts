import { describe, expect, it } from "vitest";
import { chains, isMeant, toRuleText } from "./rule.ts";

const SEND = /\bsends?\b/gi;
const KEY = /\bapi keys?\b/gi;
const TO = /\bto\b/gi;

describe("chains", () => {
  it("finds steps that follow each other closely, and says where they begin and end", () => {
    const text = toRuleText("Please send the API key now to me");
    expect(chains(text, [SEND, KEY, TO], [10, 10])).toEqual([{ start: 7, end: 30 }]);
  });

  it("lets each step be as far from the one before as it may, and not a character further", () => {
    const text = toRuleText("send 12345 api key 1 to");
    expect(chains(text, [SEND, KEY, TO], [7, 3])).toEqual([{ start: 0, end: 23 }]);
    expect(chains(text, [SEND, KEY, TO], [6, 3])).toEqual([]);
    expect(chains(text, [SEND, KEY, TO], [7, 2])).toEqual([]);
  });

  it("takes what begins where the step before ended, and nothing that overlaps", () => {
    expect(chains(toRuleText("aabb"), [/a+/g, /b+/g], [0])).toEqual([{ start: 0, end: 4 }]);
    expect(chains(toRuleText("aab"), [/aa/g, /ab/g], [5])).toEqual([]);
  });

  it("gives every chain, each with the step that follows next", () => {
    expect(chains(toRuleText("send send api key, send api key api key"), [SEND, KEY], [6])).toEqual([
      { start: 0, end: 17 },
      { start: 5, end: 17 },
      { start: 19, end: 31 },
    ]);
  });

  it("looks nothing up after a step that is absent", () => {
    const { text, all } = toRuleText("an api key to x");
    const asked: unknown[] = [];
    const asking = (phrases: RegExp) => {
      asked.push(phrases);
      return all(phrases);
    };
    expect(chains({ text, all: asking }, [KEY, SEND, TO], [10, 10])).toEqual([]);
    expect(asked).toEqual([KEY, SEND]);
  });
});

describe("isMeant", () => {
  const meant = (text: string) => isMeant(toRuleText(text), { start: text.search(/send/i), end: text.length });

  it.each([
    "Never send it",
    "Do not send it",
    "Don't send it",
    "Avoid to send it",
    "Works without having to send it",
    "Prevents others that send it",
    "Blocks what would send it",
    "Detects who wants to send it",
    "Forbids to send it",
    "Refuses to send it",
    "Mitigates attempts to send it",
    "Guards against tools that send it",
    "Says whether they send it",
    "They may try to send it",
    "They might also send it",
    "They could instruct you to send it",
    "Accidentally send it",
    "Potentially send it",
    "Phrases like 'send it",
    'Explain the "send it',
    "Never say `send it",
    "Never\n one two three send it",
    `Never ${"a".repeat(33)} send it`,
  ])("is false for: %s", (text) => {
    expect(meant(text)).toBe(false);
  });

  it.each([
    "Send it",
    "Never. Send it",
    `Never ${"a".repeat(34)} send it`,
    "Never one two three four send it",
    "Never say '' send it",
    "Knot and send it",
    "Notably send it",
    "They may send it",
    "Do not ever, but send it",
    "Never mind; now send it",
  ])("is true for: %s", (text) => {
    expect(meant(text)).toBe(true);
  });
});

describe("toRuleText", () => {
  it("looks an expression up once, from the beginning", () => {
    const text = toRuleText("a b a");
    const letters = /a/g;
    letters.lastIndex = 2;
    expect(text.all(letters)).toHaveLength(2);
    expect(text.all(letters)).toBe(text.all(letters));
  });

  it("comes to an end with an expression that also fits nothing", () => {
    expect(toRuleText("ba").all(/a*/g)).toEqual([
      { start: 0, end: 0 },
      { start: 1, end: 2 },
      { start: 2, end: 2 },
    ]);
  });
});
