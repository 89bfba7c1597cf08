import { describe, expect, it } from "vitest";
import { allowedSequence, near, needing, pattern, sequence, toRuleText, words } from "./rule.ts";

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

describe("words", () => {
  it("takes whole words in any case, with any white space between them", () => {
    expect(toRuleText("API \n key, api keys, apikeys, rapi key").all(KEY)).toHaveLength(2);
  });

  it("keeps a space between brackets as one of the characters there", () => {
    expect(toRuleText("api_key api key api{key").all(words("api[ _]key"))).toHaveLength(2);
  });
});

describe("needing", () => {
  it("runs the expression only where the letters are, in any case", () => {
    const phrases = needing(["cve-"], /exploit\w*/g);
    expect(pattern(phrases)(toRuleText("exploits CVE-1"))).toEqual({ start: 0, end: 8 });
    expect(pattern(phrases)(toRuleText("exploits"))).toBeUndefined();
  });
});
