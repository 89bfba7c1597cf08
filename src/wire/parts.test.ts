import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { memoryAudit } from "../adapters/audit/memory.ts";
import { hmacKey } from "../guard/audit/key.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { configuredAudit, configuredSinks } from "./parts.ts";
import { configuredCallAudit } from "./call-audit.ts";
import { createSurroundings } from "./surroundings.ts";
import { resolveConfig } from "../config/load/resolve-config.ts";

const clock = createManualClock();
const defaults = resolveConfig({});
const surroundings = createSurroundings(defaults, { clock });

describe("the configured audit", () => {
  it("must be written if the policy is strict, and only then", async () => {
    const append = (): Promise<never> => Promise.reject(new Error("disk full"));
    const kept = async (policy: "strict" | "standard"): Promise<unknown> => {
      const config = resolveConfig({ security: { policy } });
      const audit = configuredCallAudit(config, { ...memoryAudit({ clock }), append }, surroundings);
      return audit.record({ kind: "gap", records: 1 });
    };
    expect([await kept("strict"), await kept("standard")]).toEqual(["disk full", undefined]);
  });

  it("is none where no file is named, and the file where one is", async () => {
    expect(configuredAudit(defaults, surroundings)).toBeUndefined();
    expect(configuredAudit(resolveConfig({ audit: { file: "audit.jsonl" } }), surroundings)?.name).toBe("file");
  });

  it("refuses a secret that is too short to sign with", () => {
    const config = resolveConfig({ audit: { file: "audit.jsonl", secret: "short" } });
    expect(() => configuredAudit(config, surroundings)).toThrow("Give at least 32 random characters.");
  });
});

describe("the secret of the configured audit", () => {
  const use = async (secret: string, environment: Record<string, string>): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), "arsenal-parts-"));
    const file = join(folder, "audit.jsonl");
    const own = createSurroundings(defaults, { clock, environment });
    const log = configuredAudit(resolveConfig({ audit: { file, secret } }), own);
    try {
      await log?.append({ kind: "gap", records: 1 });
      await log?.close();
      return await readFile(file, "utf8");
    } finally {
      await rm(folder, { recursive: true });
    }
  };

  it("is looked up when the log is opened, and checked then", async () => {
    const secret = "0123456789abcdef0123456789abcdef";
    expect(await use("env:AUDIT", { AUDIT: secret })).toContain(hmacKey(secret).id);
    await expect(use("env:AUDIT", { AUDIT: "short-one" })).rejects.toThrow("Give at least 32 random characters.");
    await expect(use("env:AUDIT", {})).rejects.toThrow('audit.secret of "audit" refers to env:AUDIT');
  });
});

describe("the configured sink", () => {
  it.each(["console", "datadog", "opentelemetry"] as const)(
    "%s wants what its adapter wants once that is loaded with the first event",
    async (type) => {
      const telemetry = { type, level: "error", otlp: { endpoint: "http://127.0.0.1:9" } } as const;
      const [sink] = configuredSinks(resolveConfig({ telemetry }), surroundings);
      const wants = (): unknown => sink?.wants?.("circuit-closed", "info") ?? true;
      expect(wants()).toBe(true);
      await sink?.write([]);
      expect(wants()).toBe(false);
      expect(sink?.wants?.("audit-failed", "error")).toBe(true);
      await sink?.close?.();
    },
  );
});
