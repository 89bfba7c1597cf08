import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, type KeyedGateway, startKeyedGateway } from "./keyed-gateway.ts";

let gateway: KeyedGateway;
beforeAll(async () => {
  gateway = await startKeyedGateway();
});
afterAll(() => gateway.close());

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly "x-access"?: { readonly role: string; readonly tenants: "own" | "all" | "none" };
}

async function operations(): Promise<readonly (Described & { readonly method: string; readonly path: string })[]> {
  const { body } = await gateway.ask("guest", "GET", "/openapi.json");
  const paths = body.paths as Record<string, Record<string, Described>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ ...described, method: method.toUpperCase(), path })),
  );
}

const CALLERS: readonly Caller[] = [
  "nobody",
  "guest-a",
  "guest",
  "approver-a",
  "approver",
  "operator-a",
  "operator-b",
  "operator",
];

/** Whether the document lets a caller in. */
function lets({ "x-access": access }: Described, who: Caller): boolean {
  const { roles = [], tenant } = gateway.callers[who] ?? {};
  if (access === undefined) return true;
  return (
    access.role.split(" or ").some((role) => roles.includes(role)) &&
    !(access.tenants === "none" && tenant !== undefined)
  );
}

describe("who may use the operations of the REST API", () => {
  it("is what /openapi.json says, for every operation and every kind of caller", async () => {
    const all = await operations();
    expect(all.length).toBeGreaterThan(40);
    const wrong: unknown[] = [];
    for (const described of all) {
      const { operationId, method, path } = described;
      for (const who of CALLERS) {
        const { status, body } = await gateway.ask(
          who,
          method,
          path.replaceAll(/\{\w+\}/g, "none.such"),
          method === "GET" ? undefined : {},
        );
        const expected = who === "nobody" ? "401" : lets(described, who) ? "passes" : "403";
        const isRefused = status === 403 && /lacks the role|all tenants share/.test(String(body?.detail));
        const actual = isRefused ? "403" : status === 401 ? "401" : status < 500 ? "passes" : String(status);
        if (actual !== expected) wrong.push([operationId, who, expected, status, body]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("lets no operator of a tenant write what tenants share", async () => {
    const writes = (await operations()).filter((each) => each.method !== "GET" && each["x-access"] !== undefined);
    const open = writes.filter((each) => lets(each, "operator-a") || lets(each, "approver-a"));
    // Those that are left write what is the tenant's, or write nothing at all.
    const ids =
      "acceptProgram approveCall createKey deleteTool denyCall explainPolicy importTools registerTool registerTools removeMember revokeKey rotateKey setMember testPolicy verifyAudit";
    expect(open.map(({ operationId }) => operationId).sort()).toEqual(ids.split(" "));
  });

  it("is what GET /info tells each caller of its own", async () => {
    const all = await operations();
    for (const who of CALLERS.filter((each) => each !== "nobody")) {
      const { body } = await gateway.ask(who, "GET", "/api/v1/info");
      // This gateway has no tenants in its state, so their operations are of no use.
      const useful = all.filter(({ tags: [tag = ""] }) => !["Tenants", "Keys", "Usage"].includes(tag));
      const listed = useful.filter((each) => lets(each, who)).map(({ operationId }) => operationId);
      expect([who, [...body.caller.operations].sort()]).toEqual([who, listed.sort()]);
    }
  });

  it("says what is missing", async () => {
    const { body } = await gateway.ask("operator-a", "POST", "/api/v1/policy/reload");
    expect(body).toMatchObject({
      status: 403,
      code: "PERMISSION_DENIED",
      detail: expect.stringContaining('"operator-a" belongs to the tenant "a" and cannot do this'),
      fix: "Ask an operator who belongs to no tenant.",
    });
    const pins = await gateway.ask("guest", "GET", "/api/v1/pins");
    expect(pins.body.detail).toContain('"guest" lacks the role "operator" or "approver".');
  });

  it("is in the table of docs/reference/rest.md", async () => {
    const table = readFileSync(new URL("../../../docs/reference/rest.md", import.meta.url), "utf8");
    for (const { operationId, method, path } of await operations())
      expect(table).toContain(`| ${operationId} | \`${method} ${path.replace("/api/v1", "")}\` |`);
  });
});
