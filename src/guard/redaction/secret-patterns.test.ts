import { describe, expect, it } from "vitest";
import { nestedRepetitions } from "../../../test/guard/nested-repetitions.ts";
import { createRedactor } from "./redactor.ts";
import { PATTERNS } from "./secret-patterns.ts";

/** Put together, so that no scanner takes this file for a leak. */
const key = (...parts: readonly string[]): string => parts.join("");
const redact = createRedactor().text;
const CHARACTERS = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3";

describe("what looks like a secret", () => {
  it.each([
    ["AWS", key("AKIA", "ABCDEFGH12345678")],
    ["GitHub", key("ghp", "_", CHARACTERS.slice(0, 36))],
    ["GitHub, fine-grained", key("github_pat", "_11ABCDE", CHARACTERS)],
    ["GitLab", key("glpat", "-", CHARACTERS.slice(0, 20))],
    ["npm", key("npm", "_", CHARACTERS.slice(0, 36))],
    ["Slack", key("xoxb", "-123456789012-abcdefghij")],
    ["OpenAI", key("sk", "-proj-", CHARACTERS)],
    ["Anthropic", key("sk", "-ant-api03-", CHARACTERS)],
    ["Stripe", key("sk", "_live_", CHARACTERS.slice(0, 24))],
    ["Google", key("AIza", CHARACTERS.slice(0, 35))],
    ["a JSON Web Token", key("eyJ", "hbGciOiJIUzI1NiJ9.eyJ", "zdWIiOiJhbm4ifQ.c2lnbmF0dXJl")],
    ["a private key", key("-----BEGIN EC ", "PRIVATE KEY-----\nMHcCAQEE\n-----END EC ", "PRIVATE KEY-----")],
  ])("takes out a key of %s", (_whose, secret) => {
    expect(redact(`key="${secret}" in it`)).toBe('key="[redacted]" in it');
  });

  it("takes out what is sent as a token, and says that there was one", () => {
    expect(redact("authorization: Bearer 0a1b2c3d4e5f6a7b8c9d==, next")).toBe("authorization: Bearer [redacted], next");
  });

  it("takes out a private key that is cut off", () => {
    expect(redact(`x ${key("-----BEGIN ", "PRIVATE KEY-----")}\\nMIIE`)).toBe("x [redacted]");
  });

  it.each([
    "sk-learn-pipeline-with-a-long-name-of-words",
    "Bearer authentication-is-required-here",
    "the xoxo-hugs-and-kisses tool",
    "eyJhbGciOiJIUzI1NiJ9 alone",
    "AKIA is a prefix, and BAKIAABCDEFGH12345678 is a word",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "desk-2024-order-number-of-the-customer-12345",
  ])("leaves %s alone", (text) => {
    expect(redact(text)).toBe(text);
  });

  it.each([
    ["after an escaped line's end", (secret: string) => String.raw`{"text":"key:\n${secret}"}`],
    ["in an address", (secret: string) => `?next=key%3D${secret}`],
  ])("takes out a key %s", (_where, around) => {
    const secret = key("ghp", "_", CHARACTERS.slice(0, 36));
    expect(redact(around(secret))).toBe(around("[redacted]"));
  });

  it("leaves what is shorter than a key alone", () => {
    expect(redact(key("AKIA", "ABCDEFGH1234567"))).toBe("AKIAABCDEFGH1234567");
    expect(redact(key("xoxb", "-123456789"))).toBe("xoxb-123456789");
    expect(redact(key("xoxb", "-1234567890"))).toBe("[redacted]");
  });

  it.each(PATTERNS)("repeats nothing without bound inside what is repeated without bound: %s", (pattern) => {
    expect(nestedRepetitions(new RegExp(pattern))).toEqual([]);
  });

  // Otherwise each character of a long word would be a new beginning, and each beginning would read the word to its end.
  it.each(PATTERNS)("begins where no word goes on, or with what it does not repeat: %s", (pattern) => {
    expect(pattern).toMatch(/^(?:\(\?<!\[A-Za-z0-9_-\]\)|-----BEGIN |\(\?<=\(\?<!\[A-Za-z0-9_-\]\)\[Bb\]earer \))/);
  });
});
