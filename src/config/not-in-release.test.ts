import { describe, expect, it } from "vitest";
import type { ToolArsenalConfig } from "./config.ts";
import { type InjectedParts, refuseNotInRelease } from "./not-in-release.ts";
import { resolveConfig } from "./load/resolve-config.ts";

function refused(config: ToolArsenalConfig, injected: InjectedParts = {}): unknown {
  try {
    refuseNotInRelease(resolveConfig(config), injected);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("what this release does not have", () => {
  const cases: readonly (readonly [string, ToolArsenalConfig, keyof InjectedParts | undefined])[] = [
    ["vector_store.type", { vectorStore: { type: "qdrant" } }, "engine"],
    ["embedder.type", { embedder: { type: "openai" } }, "embedder"],
    ["reranker.enabled", { reranker: { enabled: true } }, "reranker"],
    ["telemetry.type", { telemetry: { type: "datadog" } }, "sinks"],
    ["a2a.agents", { a2a: { agents: [{ name: "agent", url: "http://agent" }] } }, undefined],
  ];

  it.each(cases)("is refused, not ignored: %s", (field, config) => {
    expect(refused(config)).toMatchObject({ code: "CONFIG_INVALID", details: { field, fix: expect.any(String) } });
  });

  it.each(cases.filter(([, , part]) => part !== undefined))(
    "is allowed where it is injected: %s",
    (_, config, part) => {
      expect(refused(config, { [part ?? ""]: [] })).toBeUndefined();
    },
  );

  it("is named all at once", () => {
    expect(refused({ vectorStore: { type: "chroma" }, reranker: { enabled: true } })).toMatchObject({
      message:
        'vector_store.type: "chroma" is not part of this release. Use memory or sqlite, or inject your own as `engine`. Nor are: reranker.enabled.',
    });
  });

  it("is nothing in the defaults, or in telemetry that is off", () => {
    expect(refused({})).toBeUndefined();
    expect(refused({ telemetry: { enabled: false, type: "datadog" } })).toBeUndefined();
  });
});
