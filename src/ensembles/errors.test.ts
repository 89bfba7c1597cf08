import { afterEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../arsenal.ts";
import type { ToolArsenalConfig } from "../config/config.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createEnsemble, createInvoker } from "./create-ensemble.ts";
import type { Ensemble, InvokeOptions } from "./ensemble.ts";

const clock = createManualClock();
let arsenal: ToolArsenal;
afterEach(() => arsenal.close());

const waiting = Promise.withResolvers<void>();

/** An ensemble with a tool for each way to fail. */
async function connected(config: ToolArsenalConfig = {}): Promise<Ensemble> {
  arsenal = new ToolArsenal({ telemetry: { enabled: false }, ...config, clock });
  const invocables: Readonly<Record<string, () => unknown>> = {
    check_number: () => "checked",
    break_down: () => Promise.reject(new Error("disk full")),
    wait_long: () => (waiting.resolve(), new Promise(() => {})),
    reach_server: () => Promise.reject(new ArsenalError("TRANSPORT_FAILED", "connection refused")),
  };
  const invokers = Object.entries(invocables).map(([name, invocable]) =>
    createInvoker({
      name,
      description: `Shows what happens with ${name}.`,
      annotations: { readOnly: true },
      capabilities: ["read_data"],
      argumentsSchema: { type: "object", properties: { number: { type: "number" } } },
      invocable,
    }),
  );
  const configuration = { maxRetries: 1, timeout: 30 };
  const ensemble = createEnsemble({ name: "errors", invokers, configuration }, { arsenal });
  await ensemble.connect();
  return ensemble;
}

describe("a failed call of an invoker", () => {
  it("is a result whose error has a code for each category, and never an exception", async () => {
    const ensemble = await connected();
    const codeOf = async (name: string, args = {}, options: InvokeOptions = {}): Promise<unknown> => {
      const { status, error } = await ensemble.accessInvoker(name).invoke(args, options);
      return [status, error?.code];
    };
    expect(await codeOf("check_number", { number: "many" })).toEqual(["failure", "ARGUMENTS_INVALID"]);
    expect(await codeOf("break_down")).toEqual(["failure", "EXECUTION_FAILED"]);
    expect(await codeOf("reach_server")).toEqual(["failure", "TRANSPORT_FAILED"]);
    const guest = { id: "guest", roles: [], capabilities: [], scopes: [], local: false };
    expect(await codeOf("check_number", {}, { principal: guest })).toEqual(["permission_denied", "PERMISSION_DENIED"]);
    const late = codeOf("wait_long");
    await waiting.promise;
    await clock.advance(30_000);
    expect(await late).toEqual(["timeout", "TIMEOUT"]);
  });

  it("is an exception with the same code when the arsenal fails fast [001-errors-fail-fast]", async () => {
    const ensemble = await connected({ execution: { onFailure: "throw" } });
    const invoke = (name: string, args = {}): Promise<unknown> => ensemble.accessInvoker(name).invoke(args);
    await expect(invoke("break_down")).rejects.toMatchObject({ code: "EXECUTION_FAILED", message: "disk full" });
    await expect(invoke("check_number", { number: "many" })).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
    await expect(invoke("check_number", { number: 1 })).resolves.toMatchObject({ result: "checked" });
  });
});
