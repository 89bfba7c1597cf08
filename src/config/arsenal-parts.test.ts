import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { memoryAudit } from "../adapters/audit/memory.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { configuredAudit, configuredCallAudit, configuredState } from "./arsenal-parts.ts";
import { resolveConfig } from "./resolve-config.ts";

const clock = createManualClock();

describe("the configured audit", () => {
  it("is waited for where the policy is strict, and only there", async () => {
    const audit = (policy: "strict" | "standard"): unknown =>
      configuredCallAudit(resolveConfig({ security: { policy } }), memoryAudit({ clock }), () => {}).record({
        kind: "gap",
        records: 1,
      });
    expect(audit("strict")).toBeInstanceOf(Promise);
    expect(audit("standard")).toBeUndefined();
  });

  it("is none where no file is named, and the file where one is", async () => {
    expect(configuredAudit(resolveConfig({}), clock)).toBeUndefined();
    expect(configuredAudit(resolveConfig({ audit: { file: "audit.jsonl" } }), clock)?.name).toBe("file");
  });

  it("refuses a secret that is too short to sign with", () => {
    const config = resolveConfig({ audit: { file: "audit.jsonl", secret: "short" } });
    expect(() => configuredAudit(config, clock)).toThrow("Give at least 32 random characters.");
  });
});

describe("the configured state", () => {
  it("is in memory, or in the file that is named", async () => {
    expect(configuredState(resolveConfig({}), clock).name).toBe("memory");
    const folder = await mkdtemp(join(tmpdir(), "arsenal-parts-"));
    const state = configuredState(resolveConfig({ state: { file: join(folder, "state.sqlite") } }), clock);
    expect(state.name).toBe("sqlite");
    await state.close();
    await rm(folder, { recursive: true });
  });
});
