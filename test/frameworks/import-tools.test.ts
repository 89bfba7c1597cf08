import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createPrincipal, ToolArsenal } from "../../src/index.ts";
import { frameworksInstalled } from "./frameworks.ts";

const isInstalled = frameworksInstalled();
/** Imports a package that only test/frameworks has. Its types are not known here. */
const load = (name: string): Promise<Record<string, (options: object) => object>> => import(/* @vite-ignore */ name);

function arsenalFor() {
  const arsenal = new ToolArsenal();
  onTestFinished(() => arsenal.close());
  const principal = createPrincipal({ id: "agent", scopes: ["*"] });
  const call = (toolName: string, args: Record<string, unknown>, signal = new AbortController().signal) =>
    arsenal.execute({ toolName, arguments: args, principal, signal });
  return { arsenal, call };
}

// because the frameworks are large, and only test/frameworks has them
describe.skipIf(!isInstalled)("one arsenal runs tools of several frameworks", () => {
  it("Mastra's, with their schema, approval and cancellation", async () => {
    const { arsenal, call } = arsenalFor();
    const { createTool } = (await load("@mastra/core/tools")) as { createTool: (options: object) => object };
    const started = Promise.withResolvers<void>();
    const tools = [
      createTool({
        id: "double",
        description: "Doubles a number",
        inputSchema: z.object({ x: z.number() }),
        execute: async ({ x }: { x: number }) => ({ doubled: x * 2 }),
      }),
      createTool({
        id: "pay",
        description: "Pays a bill",
        inputSchema: z.object({}),
        requireApproval: true,
        execute: async () => "paid",
      }),
      createTool({
        id: "wait",
        description: "Waits",
        inputSchema: z.object({}),
        execute: (_input: object, { abortSignal }: { abortSignal: AbortSignal }) => {
          started.resolve();
          return new Promise((_, reject) => {
            abortSignal.addEventListener("abort", () => reject(new Error("stopped")));
          });
        },
      }),
    ];
    const { registered, rejected } = await arsenal.add([...tools, { id: "no tool" }], { format: "mastra" });
    expect(registered.map(({ id }) => id)).toEqual(["mastra.double", "mastra.pay", "mastra.wait"]);
    expect(rejected).toMatchObject([{ index: 3, error: { code: "INPUT_INVALID" } }]);
    expect(await call("mastra.double", { x: 21 })).toMatchObject({ status: "success", result: { doubled: 42 } });
    expect(await call("mastra.double", { x: "many" })).toMatchObject({ error: { code: "ARGUMENTS_INVALID" } });
    expect(await call("mastra.pay", {})).toMatchObject({ status: "pending_confirmation" });
    const stop = new AbortController();
    const waiting = call("mastra.wait", {}, stop.signal);
    await started.promise;
    stop.abort();
    expect(await waiting).toMatchObject({ status: "cancelled" });
  });

  it("those of the OpenAI Agents SDK, with their schema, approval and errors", async () => {
    const { arsenal, call } = arsenalFor();
    const { tool } = (await load("@openai/agents")) as { tool: (options: object) => object };
    const parameters = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };
    const shared = { description: "Works with a number", strict: false };
    const tools = [
      tool({
        ...shared,
        name: "double",
        parameters: { ...parameters, additionalProperties: true },
        execute: async ({ x }: { x: number }) => ({ doubled: x * 2 }),
      }),
      tool({
        ...shared,
        name: "pay",
        parameters: { ...parameters, additionalProperties: true },
        needsApproval: async (_context: object, { x }: { x: number }) => x > 100,
        execute: async () => "paid",
      }),
      tool({
        ...shared,
        name: "fail",
        parameters: { ...parameters, additionalProperties: true },
        execute: async () => {
          throw new Error("no luck");
        },
      }),
    ];
    const { registered, rejected } = await arsenal.add(tools, { format: "openai-agents", namespace: "agents" });
    expect(rejected).toEqual([]);
    expect(registered.map(({ id }) => id)).toEqual(["agents.double", "agents.pay", "agents.fail"]);
    expect(await call("agents.double", { x: 21 })).toMatchObject({ status: "success", result: { doubled: 42 } });
    expect(await call("agents.double", {})).toMatchObject({ error: { code: "ARGUMENTS_INVALID" } });
    expect(await call("agents.pay", { x: 1 })).toMatchObject({ status: "pending_confirmation" });
    expect(await call("agents.fail", { x: 1 })).toMatchObject({
      status: "failure",
      error: { code: "EXECUTION_FAILED" },
    });
  });
});
