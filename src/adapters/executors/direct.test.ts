import { describe, expect, it } from "vitest";
import { executorContract } from "../../testing/executor.contract.ts";
import { sampleTools } from "../../testing/sample-tools.ts";
import { directExecutor } from "./direct.ts";

describe("direct [000-5.4-direct]", () => {
  for (const { name, run } of executorContract(() => ({ adapter: directExecutor() }))) it(name, run);

  it("names the tool that has no handler, and what to do", async () => {
    const [tool] = sampleTools();
    if (tool === undefined) throw new Error("no sample tool");
    const context = {
      auxdata: {},
      tool,
      state: new Map<string, unknown>(),
      signal: new AbortController().signal,
      traceId: "",
      spanId: "",
      attempt: 1,
      progress: () => {},
    };
    await expect(directExecutor().run({ tool, arguments: {}, handler: undefined, context })).rejects.toThrow(
      `${tool.id} is in the catalog, but has no handler. Register the tool again together with its handler.`,
    );
  });
});
