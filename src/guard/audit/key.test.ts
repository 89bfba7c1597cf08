import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ed25519Key, hmacKey } from "./key.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const privatePem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const publicPem = publicKey.export({ type: "spki", format: "pem" }).toString();

describe("an Ed25519 key", () => {
  it("signs with its private half, and checks with either", () => {
    const [signing, checking] = [ed25519Key(privatePem), ed25519Key(publicPem)];
    const signature = signing.sign?.("text") ?? "";
    for (const key of [signing, checking]) {
      expect(key.verify("text", signature)).toBe(true);
      expect(key.verify("texts", signature)).toBe(false);
      expect(key.verify("text", "")).toBe(false);
    }
    expect(checking.sign).toBeUndefined();
    expect(signing.id).toBe(checking.id);
    expect(signing.id).toMatch(/^ed25519:[0-9a-f]{16}$/);
  });

  it("is refused where it is none", () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey;
    const pem = rsa.export({ type: "spki", format: "pem" }).toString();
    expect(() => ed25519Key(pem)).toThrow("The audit key cannot be used: it is of type rsa.");
    expect(() => ed25519Key("no key")).toThrow("Give an Ed25519 key in PEM");
  });
});

describe("a secret", () => {
  it("signs and checks, and does not tell itself by its id", () => {
    const secret = "0123456789abcdef0123456789abcdef";
    const key = hmacKey(secret);
    const signature = key.sign?.("text") ?? "";
    expect(key.verify("text", signature)).toBe(true);
    expect(key.verify("texts", signature)).toBe(false);
    expect(key.verify("text", signature.slice(1))).toBe(false);
    expect(hmacKey(`${secret}!`).verify("text", signature)).toBe(false);
    expect(hmacKey(`${secret}!`).id).not.toBe(key.id);
  });

  it("has at least 32 characters, and is not repeated in the message", () => {
    const short = "0123456789abcdef0123456789abcde";
    expect(() => hmacKey(short)).toThrow("Give at least 32 random characters.");
    expect(() => hmacKey(short)).not.toThrow(short);
  });
});
