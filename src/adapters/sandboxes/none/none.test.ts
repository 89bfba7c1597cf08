import { describe, expect, it } from "vitest";
import { SANDBOX_LIMITS } from "../../../execute/sandbox.port.ts";
import { sandboxContract } from "../../../testing/sandbox.contract.ts";
import { noSandbox } from "./none.ts";

describe("none", () => {
  for (const { name, run } of sandboxContract(() => ({ adapter: noSandbox() }))) it(name, run);

  it("ends code that prints too much", async () => {
    const code = 'console.log("x".repeat(20_000)); await new Promise((end) => setTimeout(end, 60_000));';
    const limits = { ...SANDBOX_LIMITS, outputBytes: 10_000 };
    expect(await noSandbox().run({ kind: "javascript", code, limits })).toEqual({
      status: "killed",
      reason: "It wrote more than 10000 bytes.",
      stdout: "",
      stderr: "",
    });
  });

  it("ends the code, not the program, where the code leaves", async () => {
    const code = "process.exit(7);";
    expect(await noSandbox().run({ kind: "javascript", code, limits: SANDBOX_LIMITS })).toMatchObject({
      status: "failed",
    });
  });
});
