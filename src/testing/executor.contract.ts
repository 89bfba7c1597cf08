import assert from "node:assert/strict";
import type { Executor } from "../execute/executor.port.ts";
import type { Handler, HandlerContext } from "../tool/handler.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { sampleTools } from "./sample-tools.ts";

/** The contract of every executor. */
export function executorContract(make: Make<Executor>): readonly ContractCase[] {
  const [tool] = sampleTools();
  assert.ok(tool);
  const context: HandlerContext = {
    auxdata: { tenant: "acme" },
    tool,
    state: new Map(),
    signal: new AbortController().signal,
    traceId: "0".repeat(32),
    spanId: "0".repeat(16),
    attempt: 1,
    progress: () => {},
  };
  const run = (executor: Executor, handler: Handler | undefined): Promise<unknown> =>
    executor.run({ tool, arguments: { sql: "select 1" }, handler, context });
  return contract(make, {
    "returns what the handler returns": async (executor) => {
      assert.equal(executor.supports(tool.source), true);
      assert.deepEqual(await run(executor, ({ sql }) => ({ rows: [sql] })), { rows: ["select 1"] });
    },
    "rejects with the handler's message": async (executor) => {
      const handler = (): never => {
        throw new Error("table is locked");
      };
      await assert.rejects(run(executor, handler), /table is locked/);
    },
    "rejects where nothing runs the tool": async (executor) => {
      await assert.rejects(run(executor, undefined), { code: "HANDLER_MISSING" });
    },
  });
}
