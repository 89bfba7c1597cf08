import { describe, expect, it } from "vitest";
import { internalsOf, ToolArsenal } from "../../arsenal.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";

describe("an error that the tool itself reports", () => {
  const nothing = { type: "object", properties: {} } as const;

  it("leaves its health and its circuit as they are, however often it comes", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    const tool = arsenal.register({ name: "look", description: "Looks for a file.", parameters: nothing }, () => {
      throw new ArsenalError("EXECUTION_FAILED", "no such file", { answered: true });
    });
    for (let count = 0; count < 8; count++) {
      expect(await arsenal.execute({ toolName: "look" })).toMatchObject({ status: "failure" });
    }
    expect(internalsOf(arsenal).health(tool.id)).toMatchObject({ successRate: 1, circuitOpen: false });
  });

  it("says nothing of its health if it waits for an approval elsewhere", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    const tool = arsenal.register({ name: "pay", description: "Pays a bill.", parameters: nothing }, () => {
      throw new ArsenalError("CONFIRMATION_REQUIRED", "Dana must approve it.", { answered: true });
    });
    expect(await arsenal.execute({ toolName: "pay" })).toMatchObject({ status: "pending_confirmation", attempts: 1 });
    expect(internalsOf(arsenal).health(tool.id)).toMatchObject({ totalCalls: 0 });
  });

  it("opens the circuit where it is no report but a failure", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    arsenal.register({ name: "look", description: "Looks for a file.", parameters: nothing }, () => {
      throw new ArsenalError("EXECUTION_FAILED", "no such file");
    });
    const statuses: string[] = [];
    for (let count = 0; count < 8; count++) statuses.push((await arsenal.execute({ toolName: "look" })).status);
    expect(statuses.at(-1)).toBe("circuit_open");
  });
});

describe("a call that leaves its arguments to the source", () => {
  it("reaches the handler with arguments its parameters do not allow", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    const parameters = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    arsenal.register({ name: "echo", description: "Says what it was given.", parameters }, (args) => args);
    const call = { toolName: "echo", arguments: { n: "one" } };
    expect(await arsenal.execute(call)).toMatchObject({ status: "failure", error: { code: "ARGUMENTS_INVALID" } });
    expect(await arsenal.execute({ ...call, checkArguments: false })).toMatchObject({ result: { n: "one" } });
  });
});
