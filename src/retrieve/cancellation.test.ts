import { describe, expect, it } from "vitest";
import { throwIfCancelled, untilCancelled } from "./cancellation.ts";

const never = new Promise<never>(() => {});

describe("untilCancelled", () => {
  it("passes outcomes on", async () => {
    const { signal } = new AbortController();
    expect(await untilCancelled(Promise.resolve(1), signal)).toBe(1);
    expect(await untilCancelled(Promise.resolve(1), undefined)).toBe(1);
    await expect(untilCancelled(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
  });
  it("stops waiting for work that ignores the signal", async () => {
    const controller = new AbortController();
    const waiting = untilCancelled(never, controller.signal);
    controller.abort("enough");
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED", cause: "enough" });
  });
  it("says CANCELLED for work that rejects in its own words", async () => {
    const signal = AbortSignal.abort();
    await expect(untilCancelled(Promise.reject(new Error("AbortError")), signal)).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });
});

describe("throwIfCancelled", () => {
  it("throws only once the signal has fired", () => {
    expect(() => throwIfCancelled(new AbortController().signal)).not.toThrow();
    expect(() => throwIfCancelled(AbortSignal.abort())).toThrow("cancelled by its caller");
  });
});
