import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../arsenal.ts";
import { localOperator, type Principal } from "../guard/principal.ts";
import type { AccessPolicy, Toolset } from "./toolset.ts";

const acme: Principal = localOperator({ id: "ann", tenant: "acme-corp", roles: ["support"], local: false });

function toolset(filter: Toolset["filter"], policy: AccessPolicy = {}): Toolset {
  return {
    name: "customer-acme",
    description: "",
    tags: [],
    filter,
    view: "live",
    policy,
    createdAt: 0,
    updatedAt: 0,
  };
}

async function supportArsenal(given: Toolset): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" } });
  for (const name of ["create_ticket", "delete_ticket"])
    arsenal.register({ name, namespace: "support", description: `Will ${name} for a customer.` }, () => name);
  arsenal.toolsets.add(given);
  return arsenal;
}

const tickets = { ids: ["support.create_ticket"] };

describe("a toolset", () => {
  it("hides every tool outside it from search, list, get and call [003-toolset-search] [003-toolset-runner]", async () => {
    await using arsenal = await supportArsenal(toolset(tickets));
    const through = { toolset: "customer-acme" };

    const found = await arsenal.retrieve({ context: { query: "delete ticket" }, refuse: "never", ...through });
    expect(found.tools.map(({ tool }) => tool.id)).toEqual(["support.create_ticket"]);
    expect((await arsenal.listTools(through)).map(({ id }) => id)).toEqual(["support.create_ticket"]);
    expect(await arsenal.getTool("delete_ticket", "support", through)).toBeUndefined();
    expect(await arsenal.execute({ toolName: "support.delete_ticket", ...through })).toMatchObject({
      status: "failure",
      error: { code: "TOOL_NOT_FOUND" },
    });
    expect(await arsenal.execute({ toolName: "support.create_ticket", ...through })).toMatchObject({
      result: "create_ticket",
    });
  });

  it("does not exist for callers whom its policy does not admit [003-policy-tenants] [003-policy-roles]", async () => {
    await using arsenal = await supportArsenal(toolset(tickets, { allowedTenants: ["other"] }));
    const through = { toolset: "customer-acme", principal: acme };
    const missing = { code: "TOOLSET_NOT_FOUND" };

    await expect(arsenal.listTools(through)).rejects.toMatchObject(missing);
    await expect(arsenal.retrieve({ context: { query: "ticket" }, ...through })).rejects.toMatchObject(missing);
    expect(await arsenal.execute({ toolName: "support.create_ticket", ...through })).toMatchObject({
      error: { code: "TOOL_NOT_FOUND" },
    });
    arsenal.toolsets.add(toolset(tickets, { allowedTenants: ["acme-corp"], allowedRoles: ["support"] }));
    expect(await arsenal.listTools(through)).toHaveLength(1);
  });

  it("limits the calls that all its callers make together [003-policy-rate]", async () => {
    await using arsenal = await supportArsenal(toolset(tickets, { rateLimit: { requestsPerMinute: 1 } }));
    const call = { toolName: "support.create_ticket", toolset: "customer-acme" };

    expect((await arsenal.execute(call)).status).toBe("success");
    expect(await arsenal.execute({ ...call, principal: acme })).toMatchObject({ error: { code: "RATE_LIMITED" } });
  });
});
