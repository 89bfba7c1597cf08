import { describe, expect, it } from "vitest";
import { words } from "./phrases.ts";
import { allowed, allowedSequence, chains, either, near, pattern, sequence, toRuleText } from "./rule.ts";

const SEND = words("sends?");
const KEY = words("api keys?");
const TO = words("to");

describe("sequence", () => {
  const search = sequence([SEND, KEY, TO], 10);

  it("finds parts that follow each other closely, and says where they begin and end", () => {
    expect(search(toRuleText("Please send the API key now to me"))).toEqual({ start: 7, end: 30 });
  });

  it("finds them after a beginning that leads nowhere", () => {
    expect(search(toRuleText("send send it far away, and then send api keys to x"))).toEqual({ start: 32, end: 48 });
  });

  it.each(["API key to send", "send a very long way to an API key to x", "send an API key"])(
    "does not find them in: %s",
    (text) => {
      expect(search(toRuleText(text))).toBeUndefined();
    },
  );
});

describe("chains", () => {
  it("ends one as far from the next as may be, and not a character further", () => {
    expect(chains(toRuleText("send 12345 api key"), [SEND, KEY], 7)).toEqual([{ start: 0, end: 18 }]);
    expect(chains(toRuleText("send 12345 api key"), [SEND, KEY], 6)).toEqual([]);
  });

  it("takes what begins where the one before ended, and nothing that overlaps", () => {
    expect(chains(toRuleText("aabb"), [/a+/g, /b+/g], 0)).toEqual([{ start: 0, end: 4 }]);
    expect(chains(toRuleText("aab"), [/aa/g, /ab/g], 5)).toEqual([]);
  });

  it("gives every chain, each with the part that follows next", () => {
    expect(chains(toRuleText("send send api key, send api key api key"), [SEND, KEY], 6)).toEqual([
      { start: 0, end: 17 },
      { start: 5, end: 17 },
      { start: 19, end: 31 },
    ]);
  });

  it("looks nothing up after a part that is absent", () => {
    const { text, all } = toRuleText("an api key to x");
    const asked: unknown[] = [];
    const asking = (phrases: RegExp) => {
      asked.push(phrases);
      return all(phrases);
    };
    expect(chains({ text, all: asking }, [KEY, SEND, TO], 10)).toEqual([]);
    expect(asked).toEqual([KEY, SEND]);
  });

  it("has none of no parts", () => {
    expect(chains(toRuleText("send"), [], 5)).toEqual([]);
  });
});

describe("either", () => {
  it("gives what the first search finds that finds anything", () => {
    const search = either(pattern(KEY), pattern(SEND));
    expect(search(toRuleText("send an api key"))).toEqual({ start: 8, end: 15 });
    expect(search(toRuleText("send it"))).toEqual({ start: 0, end: 4 });
    expect(search(toRuleText("nothing"))).toBeUndefined();
  });
});

describe("allowed", () => {
  const search = allowed(SEND);

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
  ])("passes over: %s", (text) => {
    expect(search(toRuleText(text))).toBeUndefined();
  });

  it.each([
    "Send it",
    "Never. Send it",
    `never ${"a".repeat(40)} send it`,
    "Never one two three four send it",
    "Never say '' send it",
    "Knot and send it",
    "Notably send it",
    "They may send it",
    "Do not ever, but send it",
    "Never mind; now send it",
  ])("finds: %s", (text) => {
    expect(search(toRuleText(text))).toBeDefined();
  });

  it("looks for it forty characters back, and no further", () => {
    const within = (letters: number) => search(toRuleText(`Never ${"a".repeat(letters)} send it`));
    expect(within(33)).toBeUndefined();
    expect(within(34)).toEqual({ start: 41, end: 45 });
  });

  it("finds what stands where nothing forbids it, after what is forbidden", () => {
    expect(search(toRuleText("Never send it. Send it. Do not send it."))).toEqual({ start: 15, end: 19 });
  });
});

describe("near", () => {
  it("takes either order", () => {
    expect(near(SEND, KEY, 5)(toRuleText("send api key"))).toEqual({ start: 0, end: 12 });
    expect(near(SEND, KEY, 5)(toRuleText("api key, send"))).toEqual({ start: 0, end: 13 });
    expect(near(SEND, KEY, 5)(toRuleText("api key, which one sends"))).toBeUndefined();
  });
});

describe("allowedSequence", () => {
  it("passes over what is forbidden", () => {
    const search = allowedSequence([SEND, KEY], 10);
    expect(search(toRuleText("Never send an API key. Do not ever send api keys."))).toBeUndefined();
    expect(search(toRuleText("Never send an API key. Now send the API key."))).toEqual({ start: 27, end: 43 });
  });
});

describe("toRuleText", () => {
  it("looks a phrase up once", () => {
    const text = toRuleText("send it");
    expect(text.all(SEND)).toBe(text.all(SEND));
  });

  it("reads from the beginning, wherever an expression was left", () => {
    const letters = /a/g;
    letters.lastIndex = 2;
    expect(toRuleText("a b a").all(letters)).toHaveLength(2);
  });

  it("comes to an end with an expression that also fits nothing", () => {
    expect(toRuleText("ba").all(/a*/g)).toEqual([
      { start: 0, end: 0 },
      { start: 1, end: 2 },
      { start: 2, end: 2 },
    ]);
  });
});
