import { describe, expect, it } from "vitest";
import type { Intent, IntentClassifier } from "../query.ts";
import { resolveIntent } from "./intent.ts";

const on = { enableIntentClassification: true, useLlmForIntent: true };
const says =
  (intent: Intent): IntentClassifier =>
  async () =>
    intent;

describe("resolveIntent", () => {
  it("believes the caller before anything else [000-4.2-inferred-intent]", async () => {
    const context = { query: "send it", inferredIntent: "admin" } as const;
    expect((await resolveIntent(context, on, says("analysis"), undefined)).intent).toBe("admin");
    expect(
      (await resolveIntent(context, { ...on, enableIntentClassification: false }, undefined, undefined)).intent,
    ).toBe("admin");
  });

  it("classifies nothing where that is off [000-6.1-intent-off]", async () => {
    const off = { enableIntentClassification: false, useLlmForIntent: true };
    expect((await resolveIntent({ query: "send it" }, off, says("analysis"), undefined)).intent).toBe("unknown");
  });

  it("asks the injected classifier only where configured [000-6.1-intent-model]", async () => {
    expect((await resolveIntent({ query: "send it" }, on, says("analysis"), undefined)).intent).toBe("analysis");
    const keywords = { ...on, useLlmForIntent: false };
    expect((await resolveIntent({ query: "send it" }, keywords, says("analysis"), undefined)).intent).toBe(
      "communication",
    );
    expect((await resolveIntent({ query: "send it" }, on, undefined, undefined)).intent).toBe("communication");
  });

  it("knows every intent that speaks in the request, but takes the caller's word alone", async () => {
    const query = "send the refund";
    const { shares } = await resolveIntent({ query }, on, undefined, undefined);
    expect([...shares]).toEqual([
      ["communication", 1],
      ["customer_support", 1],
    ]);
    const told = await resolveIntent({ query, inferredIntent: "admin" }, on, undefined, undefined);
    expect([...told.shares]).toEqual([["admin", 1]]);
    const unknown = await resolveIntent({ query, inferredIntent: "unknown" }, on, undefined, undefined);
    expect(unknown.shares.size).toBe(0);
  });

  it("hands the classifier the summary and the signal", async () => {
    const { signal } = new AbortController();
    const seen: unknown[] = [];
    const classifier: IntentClassifier = async (...given) => {
      seen.push(...given);
      return "admin";
    };
    await resolveIntent({ query: "send it", conversationSummary: "so far" }, on, classifier, signal);
    expect(seen).toEqual(["send it", "so far", { signal }]);
  });

  it("falls back to the keywords where the classifier fails or answers nonsense", async () => {
    const fails: IntentClassifier = async () => {
      throw new Error("no answer");
    };
    expect((await resolveIntent({ query: "send it" }, on, fails, undefined)).intent).toBe("communication");
    expect((await resolveIntent({ query: "send it" }, on, says("poetry" as Intent), undefined)).intent).toBe(
      "communication",
    );
  });
});
