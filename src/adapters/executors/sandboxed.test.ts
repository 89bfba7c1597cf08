import { describe, expect, it } from "vitest";
import { SANDBOX_LIMITS } from "../../execute/sandbox.port.ts";
import { executorContract } from "../../testing/executor.contract.ts";
import { sampleTools } from "../../testing/sample-tools.ts";
import type { Handler } from "../../tool/handler.ts";
import type { RiskLevel, Tool } from "../../tool/tool.ts";
import { isolateSandbox } from "../sandboxes/isolate/isolate.ts";
import { sandboxedExecutor, type SandboxedSettings } from "./sandboxed.ts";

const [sample] = sampleTools();
if (sample === undefined) throw new Error("no sample tool");

async function run(handler: Handler, settings: Partial<SandboxedSettings> = {}, riskLevel: RiskLevel = "high") {
  const tool: Tool = { ...sample, riskLevel } as Tool;
  const executor = sandboxedExecutor({ sandbox: isolateSandbox(), ...settings });
  const context = {
    auxdata: { tenant: "acme" },
    tool,
    state: new Map<string, unknown>(),
    signal: new AbortController().signal,
    traceId: "trace",
    spanId: "span",
    attempt: 1,
    progress: () => {},
  };
  return executor.run({ tool, arguments: { x: 2 }, handler, context });
}

/** Something of this program that a confined handler must not reach. */
const SECRET = "of this program";

describe("sandboxed [002-sandbox-enabled]", () => {
  for (const { name, run: check } of executorContract(() => ({
    adapter: sandboxedExecutor({ sandbox: isolateSandbox() }),
  })))
    it(name, check);

  it("gives a handler its arguments and what of its context is data", async () => {
    const handler: Handler = async ({ x }, { auxdata, attempt }) => ({ x, auxdata, attempt });
    expect(await run(handler)).toEqual({ x: 2, auxdata: { tenant: "acme" }, attempt: 1 });
  });

  it("keeps a handler from the program it was written in", async () => {
    await expect(run(() => SECRET)).rejects.toThrow("SECRET");
    await expect(run(() => process.pid)).rejects.toMatchObject({ code: "EXECUTION_FAILED" });
  });

  it("confines what is risky enough, and runs the rest here", async () => {
    const handler: Handler = () => SECRET;
    const settings = { fromRisk: "high" } as const;
    expect(await run(handler, settings, "medium")).toBe("of this program");
    await expect(run(handler, settings, "high")).rejects.toMatchObject({ code: "EXECUTION_FAILED" });
    await expect(run(handler, settings, "critical")).rejects.toMatchObject({ code: "EXECUTION_FAILED" });
  });

  it("takes tools of the sources it is for", () => {
    const executor = sandboxedExecutor({ sandbox: isolateSandbox() });
    expect([executor.supports("function"), executor.supports("mcp")]).toEqual([true, false]);
    expect(sandboxedExecutor({ sandbox: isolateSandbox(), sources: ["descriptor"] }).supports("descriptor")).toBe(true);
  });

  it.each([
    ["TIMEOUT", { timeoutMs: 300 }],
    ["SANDBOX_FAILED", { cpuMs: 100 }],
  ])("ends a handler that does not end with %s", async (code, limits) => {
    const handler: Handler = () => {
      for (;;);
    };
    await expect(run(handler, { limits: { ...SANDBOX_LIMITS, ...limits } })).rejects.toMatchObject({ code });
  });

  it("says how to write a handler that cannot be sent", async () => {
    const { method } = { method() {} };
    for (const handler of [method, Math.max as unknown as Handler])
      await expect(run(handler)).rejects.toMatchObject({ code: "SANDBOX_FAILED", details: { field: "handler" } });
  });
});
