import assert from "node:assert/strict";
import type { Executor } from "../execute/executor.port.ts";
import type { HandlerContext } from "../tool/handler.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { sampleTools } from "./sample-tools.ts";

/** What every executor must do. */
export function executorContract(make: Make<Executor>): readonly ContractCase[] {
  const [tool] = sampleTools();
  assert.ok(tool);
  const context = (signal: AbortSignal = new AbortController().signal): HandlerContext => ({
    auxdata: { tenant: "acme" },
    tool,
    state: new Map(),
    signal,
    traceId: "0".repeat(32),
    spanId: "0".repeat(16),
    attempt: 1,
    progress: () => {},
  });
  return contract(make, {
    "returns what the handler returns": async (executor) => {
      assert.equal(executor.supports(tool.source), true);
      assert.deepEqual(
        await executor.run({
          tool,
          arguments: { sql: "select 1" },
          handler: ({ sql }) => ({ rows: [sql] }),
          context: context(),
        }),
        {
          rows: ["select 1"],
        },
      );
    },
    "rejects with the handler's message": async (executor) => {
      const handler = (): never => {
        throw new Error("table is locked");
      };
      await assert.rejects(executor.run({ tool, arguments: {}, handler, context: context() }), /table is locked/);
    },
    "rejects where nothing runs the tool": async (executor) => {
      await assert.rejects(executor.run({ tool, arguments: {}, handler: undefined, context: context() }), {
        code: "HANDLER_MISSING",
      });
    },
  });
}
