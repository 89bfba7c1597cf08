import { assert, nat, pre, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { createSeal, type SealBinding } from "./seal.ts";

const binding: SealBinding = {
  principal: { id: "ada" },
  plane: "all",
  method: "tools/call",
  params: { name: "send", arguments: { to: "b", text: "hi" }, _meta: { progressToken: 1 } },
};

describe("seal", () => {
  it("opens what it sealed for the same caller and request, whatever the order of keys and the envelope", () => {
    const { seal, open } = createSeal();
    const params = {
      arguments: { text: "hi", to: "b" },
      name: "send",
      _meta: { progressToken: 2 },
      inputResponses: { a: {} },
      requestState: "x",
    };
    expect(open(seal({ state: "s" }, binding), { ...binding, params })).toEqual({ state: "s" });
  });

  it.each<[string, Partial<SealBinding>]>([
    ["another principal", { principal: { id: "eve" } }],
    ["the principal's namesake in another tenant", { principal: { id: "ada", tenant: "t" } }],
    ["another plane", { plane: "other" }],
    ["another method", { method: "prompts/get" }],
    ["other arguments", { params: { name: "send", arguments: { to: "c", text: "hi" } } }],
  ])("does not open for %s", (_what, change) => {
    const { seal, open } = createSeal();
    expect(open(seal({ state: "s" }, binding), { ...binding, ...change })).toBeUndefined();
  });

  it("does not open after it has expired", async () => {
    const clock = createManualClock();
    const { seal, open } = createSeal({ clock, ttlMs: 1000 });
    const text = seal({ state: "s" }, binding);
    await clock.advance(999);
    expect(open(text, binding)).toEqual({ state: "s" });
    await clock.advance(1);
    expect(open(text, binding)).toBeUndefined();
  });

  it("does not open a text in which any character was changed, left out or added", () => {
    const { seal, open } = createSeal();
    const text = seal({ state: "s" }, binding);
    assert(
      property(nat(text.length - 1), string({ minLength: 0, maxLength: 2 }), (at, put) => {
        const changed = text.slice(0, at) + put + text.slice(at + 1);
        pre(changed !== text);
        expect(open(changed, binding)).toBeUndefined();
      }),
    );
  });

  it("shows nothing of what is sealed, and never gives the same text twice", () => {
    const { seal } = createSeal();
    const text = seal({ secret: "hunter2" }, binding);
    expect(Buffer.from(text.slice(13), "base64url").toString("latin1")).not.toContain("hunter2");
    expect(seal({ secret: "hunter2" }, binding)).not.toBe(text);
  });

  it("knows its own texts from those of a seal with another key, and shares them with one of the same key", () => {
    const key = new Uint8Array(32).fill(7);
    const first = createSeal({ key });
    const text = first.seal({ state: "s" }, binding);
    expect(first.owns(text)).toBe(true);
    expect(createSeal({ key }).open(text, binding)).toEqual({ state: "s" });
    expect(createSeal().owns(text)).toBe(false);
    expect(createSeal().open(text, binding)).toBeUndefined();
  });

  it("refuses a key of the wrong length", () => {
    expect(() => createSeal({ key: new Uint8Array(16) })).toThrow("has 16 bytes, not 32");
  });
});
