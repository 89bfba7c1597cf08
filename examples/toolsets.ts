import assert from "node:assert/strict";
import { memoryAudit } from "toolarsenal/audit";
import { type Capability, createPrincipal, localOperator, ToolArsenal } from "toolarsenal";
import { createManualClock } from "toolarsenal/testing";
import { createToolset } from "toolarsenal/toolset";

const audit = memoryAudit();
// A clock that stands still: the calls below are made within one minute, however slow the machine.
const parts = { audit, clock: createManualClock(Date.now()) };
const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, telemetry: { level: "error" }, ...parts });

function register(id: string, tags: readonly string[], category = "write", capabilities: readonly Capability[] = []) {
  const [namespace, name = ""] = [id.slice(0, id.lastIndexOf(".")), id.split(".").at(-1)];
  const description = `The tool ${name.replaceAll("_", " ")} of ${namespace}.`;
  arsenal.register({ namespace, name, description, tags, category, capabilities }, () => `${name} done`);
}
register("mcp.github.run_workflow", ["ci-cd"]);
register("mcp.github.delete_repo", ["ci-cd"], "write", ["delete_data"]);
register("mcp.github.list_stars", ["social", "safe"], "read-only");
register("mcp.kubernetes.get_pods", ["monitoring", "safe", "idempotent"], "read-only");
register("mcp.kubernetes.roll_back", ["deployment", "idempotent"]);
register("mcp.support.create_ticket", ["support"]);
register("mcp.docs.search", ["safe"], "read-only");
register("mcp.billing.get_invoice", ["billing", "idempotent"], "read-only");
register("mcp.billing.void_invoice", ["billing"], "write", ["financial"]);

// A DevOps toolset: either namespace, any of the tags, and never the tool that is too dangerous.
await createToolset("devops-tools")
  .fromCatalog(arsenal)
  .withNamespace("mcp.github")
  .withNamespace("mcp.kubernetes")
  .withTags("ci-cd", "deployment", "monitoring")
  .excludeTools("mcp.github.delete_repo")
  .withPolicy({ allowedRoles: ["devops", "sre"], auditLog: true })
  .build();

// A customer's toolset: three tools, for one tenant, 60 calls a minute.
await createToolset("customer-acme")
  .fromCatalog(arsenal)
  .withTools("mcp.support.create_ticket", "mcp.docs.search", "mcp.billing.get_invoice")
  .withPolicy({ allowedTenants: ["acme-corp"], rateLimit: { requestsPerMinute: 60 } })
  .build();

// A toolset that is safe in production: nothing destructive.
await createToolset("production").fromCatalog(arsenal).withCategory("read-only").withTags("safe", "idempotent").build();

const toolsOf = async (toolset: string): Promise<readonly string[]> =>
  (await arsenal.listTools({ toolset })).map(({ id }) => id);
for (const { name } of arsenal.toolsets.list(localOperator()))
  console.log(`${name}: ${(await toolsOf(name)).join(" ")}`);
// prints: customer-acme: mcp.billing.get_invoice mcp.docs.search mcp.support.create_ticket
// prints: devops-tools: mcp.github.run_workflow mcp.kubernetes.get_pods mcp.kubernetes.roll_back
// prints: production: mcp.billing.get_invoice mcp.docs.search mcp.github.list_stars mcp.kubernetes.get_pods

// DevOps: its roles may use it, for everybody else it does not exist. The audit log shows each call with its toolset.
const sre = createPrincipal({ id: "sam", roles: ["sre"] });
const devops = { toolset: "devops-tools", principal: sre };
assert.equal((await arsenal.execute({ toolName: "mcp.kubernetes.roll_back", ...devops })).status, "success");
const dangerous = await arsenal.execute({ toolName: "mcp.github.delete_repo", ...devops });
assert.equal(dangerous.error?.code, "TOOL_NOT_FOUND");
const guest = createPrincipal({ id: "guest" });
await assert.rejects(arsenal.listTools({ toolset: "devops-tools", principal: guest }), { code: "TOOLSET_NOT_FOUND" });
const records = audit.lines.map((line) => JSON.parse(line) as { toolset?: string; toolId: string; status: string });
assert.deepEqual(
  records.map(({ toolset, toolId, status }) => [toolset, toolId, status]),
  [
    ["devops-tools", "mcp.kubernetes.roll_back", "success"],
    ["devops-tools", "mcp.github.delete_repo", "failure"],
  ],
);

// Customer: Acme alone, and not more than 60 calls a minute. A search finds only what Acme has.
const ann = createPrincipal({ id: "ann", tenant: "acme-corp" });
const acme = { toolset: "customer-acme", principal: ann };
const found = await arsenal.retrieve({ context: { query: "void an invoice" }, refuse: "never", ...acme });
assert.equal(found.tools[0]?.tool.id, "mcp.billing.get_invoice");
assert.equal(arsenal.toolsets.find("customer-acme", { ...ann, tenant: "other-corp" }), undefined);
const names = await toolsOf("customer-acme");
const calls = Array.from({ length: 61 }, (_, index) => ({ toolName: names[index % names.length] ?? "", ...acme }));
const codes = (await Promise.all(calls.map((call) => arsenal.execute(call)))).map(({ error }) => error?.code);
assert.deepEqual([codes.filter((code) => code === "RATE_LIMITED").length, codes.length], [1, 61]);

// Production: a new safe tool appears by itself, a destructive one never does.
register("mcp.kubernetes.get_nodes", ["safe"], "read-only");
register("mcp.kubernetes.delete_node", ["idempotent"], "write", ["delete_data"]);
const now = await toolsOf("production");
assert.deepEqual([now.length, now.includes("mcp.kubernetes.get_nodes")], [5, true]);
for (const { capabilities } of await arsenal.listTools({ toolset: "production" })) assert.deepEqual(capabilities, []);
await arsenal.close();
