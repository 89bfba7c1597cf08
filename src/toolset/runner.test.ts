import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openaiDialect } from "../adapters/dialects/openai/openai.ts";
import { DIALECT_NAMES } from "../adapters/dialects/built-in.ts";
import { ToolArsenal } from "../arsenal.ts";
import { localOperator } from "../guard/principal.ts";
import { createRunner, type Runner } from "./runner.ts";
import type { Toolset } from "./toolset.ts";

const NOW = { createdAt: 0, updatedAt: 0 };

function toolset(name: string, ids: readonly string[], policy: Toolset["policy"] = {}): Toolset {
  return { name, description: "", tags: [], filter: { ids }, view: "live", policy, ...NOW };
}

let arsenal: ToolArsenal;
let runner: Runner;
beforeEach(() => {
  const short = { ...openaiDialect(), name: "short", convert: toShort } as never;
  arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, telemetry: { enabled: false }, dialects: [short] });
  for (const name of ["create_ticket", "find_ticket", "delete_ticket"])
    arsenal.register(
      {
        name,
        namespace: "support",
        description: `Will ${name} of a customer.`,
        parameters: { type: "object", properties: { id: { type: "string" } }, additionalProperties: false },
      },
      () => name,
    );
  arsenal.toolsets.add(toolset("helpers", ["support.create_ticket", "support.find_ticket"]));
  arsenal.toolsets.add(toolset("cleaners", ["support.delete_ticket"]));
  runner = createRunner(arsenal, "helpers");
});
afterEach(() => arsenal.close());

const OURS = ["support.create_ticket", "support.find_ticket"];
const toShort = ({ id }: { readonly id: string }): object => ({ definition: { say: id }, strict: false, losses: [] });
/** What a caller without types may add to anything. */
const WIDER: object = { toolset: "cleaners" };

describe("a runner", () => {
  it("finds, lists and gets the tools of its toolset [003-toolset-runner]", async () => {
    const query = { context: { query: "delete ticket" }, refuse: "never", limit: 10 } as const;
    const found = await runner.retrieve(query);
    expect(found.tools.map(({ tool }) => tool.id).toSorted()).toEqual(OURS);
    expect((await runner.listTools()).map(({ id }) => id)).toEqual(OURS);
    expect((await runner.getTool("find_ticket", "support"))?.id).toBe("support.find_ticket");
    expect(await runner.getTool("delete_ticket", "support")).toBeUndefined();
    const definitions = await runner.retrieveTools("delete ticket", { refuse: "never", limit: 10 });
    expect(definitions.map(({ function: { name } }) => name).toSorted()).toEqual([
      "support-create_ticket",
      "support-find_ticket",
    ]);
  });

  it("runs the tools of its toolset, alone and in a batch", async () => {
    expect(await runner.execute({ toolName: "support.find_ticket" })).toMatchObject({ result: "find_ticket" });
    for (const toolName of ["support.delete_ticket", "support-delete_ticket", "delete_ticket"])
      expect(await runner.execute({ toolName })).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    const { results } = await runner.executeBatch({
      calls: [{ toolName: "support.create_ticket" }, { toolName: "support.delete_ticket" }],
    });
    expect(results.map(({ status, error }) => [status, error?.code])).toEqual([
      ["success", undefined],
      ["failure", "TOOL_NOT_FOUND"],
    ]);
  });

  it("stays within its toolset when a caller names another one", async () => {
    const query = { context: { query: "delete ticket" }, refuse: "never", limit: 10, ...WIDER } as const;
    expect((await runner.retrieve(query)).tools.map(({ tool }) => tool.id).toSorted()).toEqual(OURS);
    expect((await runner.listTools({ ...WIDER })).map(({ id }) => id)).toEqual(OURS);
    expect(await runner.getTool("delete_ticket", "support", { ...WIDER })).toBeUndefined();
    const call = { toolName: "support.delete_ticket", ...WIDER };
    expect(await runner.execute(call)).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    class Call {
      readonly toolName = "support.delete_ticket";
      readonly toolset = "cleaners";
    }
    const { results } = await runner.executeBatch({ calls: [call, new Call()] });
    expect(results.map(({ error }) => error?.code)).toEqual(["TOOL_NOT_FOUND", "TOOL_NOT_FOUND"]);
    expect(await runner.retrieveTools("delete ticket", { refuse: "never", limit: 10, ...WIDER })).toHaveLength(2);
    expect(await runner.definitions("mcp", { ...WIDER })).toHaveLength(2);
  });

  it("says what is wrong with a batch or a call as the arsenal does", async () => {
    await expect(runner.executeBatch({} as never)).rejects.toMatchObject({ code: "CALL_INVALID" });
    expect(await runner.execute(undefined as never)).toMatchObject({ error: { code: "CALL_INVALID" } });
  });

  it("does not exist for callers whom the toolset does not admit", async () => {
    arsenal.toolsets.add(toolset("helpers", OURS, { allowedTenants: ["acme"] }));
    const other = { principal: localOperator({ id: "eve", local: false, tenant: "globex" }) };
    await expect(runner.listTools(other)).rejects.toMatchObject({ code: "TOOLSET_NOT_FOUND" });
    await expect(runner.definitions("openai", other)).rejects.toMatchObject({ code: "TOOLSET_NOT_FOUND" });
    const acme = { principal: localOperator({ id: "ann", local: false, tenant: "acme" }) };
    expect(await runner.listTools(acme)).toHaveLength(2);
  });
});

describe("the definitions of a toolset", () => {
  it.each(DIALECT_NAMES)("are its tools and no other, in the dialect %s [003-toolset-expose]", async (dialect) => {
    const definitions = await runner.definitions(dialect);
    expect(definitions).toHaveLength(2);
    const text = JSON.stringify(definitions);
    expect(text).toContain("create_ticket");
    expect(text).toContain("find_ticket");
    expect(text).not.toContain("delete_ticket");
  });

  it("are written in a dialect of your own too, by its name", async () => {
    expect(await runner.definitions("short")).toEqual([
      { say: "support.create_ticket" },
      { say: "support.find_ticket" },
    ]);
  });

  it("are strict as far as one request of the dialect holds", async () => {
    const names = Array.from({ length: 25 }, (_, index) => `tool_${index}`);
    const parameters = {
      type: "object",
      properties: { id: { type: "string" } },
      required: ["id"],
      additionalProperties: false,
    } as const;
    for (const name of names)
      arsenal.register({ name, namespace: "many", description: "One of many.", parameters }, () => name);
    arsenal.toolsets.add({ ...toolset("many", []), filter: { namespaces: ["many"] } });
    const definitions = await createRunner(arsenal, "many").definitions("anthropic", { strict: true });
    expect(definitions).toHaveLength(25);
    expect(definitions.filter(({ strict }) => strict === true)).toHaveLength(20);
  });
});
