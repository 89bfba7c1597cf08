import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryAudit, type MemoryAudit } from "../../../src/adapters/audit/memory.ts";
import { createKeyText, hashOfKey } from "../../../src/adapters/identity/api-keys/key-file.ts";
import { apiKeys } from "../../../src/adapters/identity/index.ts";
import { internalsOf, ToolArsenal } from "../../../src/arsenal.ts";
import type { ToolArsenalConfig } from "../../../src/config/config.ts";
import type { Policy } from "../../../src/guard/policy.port.ts";
import { localOperator } from "../../../src/guard/principal.ts";
import { toolset } from "../../mcp/toolset-gateway.ts";

let cleanUp: AsyncDisposableStack;
beforeEach(() => void (cleanUp = new AsyncDisposableStack()));
afterEach(() => cleanUp.disposeAsync());

const quiet: ToolArsenalConfig = { embedder: { tier: "lexical" }, telemetry: { enabled: false } };
const key = createKeyText("arsenal-a");

/** B hides its vault, asks a person about refunds, and refuses large ones. */
const policyOfB: Policy = {
  sees: ({ namespace }) => namespace !== "vault",
  decide({ tool, arguments: { amount } }) {
    if (Number(amount) > 100) return { effect: "deny", rule: "large", reason: "Refunds above 100 are refused." };
    return tool.name === "refund"
      ? { effect: "confirm", rule: "refunds", reason: "Refunds need an approval." }
      : { effect: "allow" };
  },
};

/** Arsenal B serves its tools as an agent to whoever has the key; arsenal A uses that agent. */
async function twoArsenals(options: { readonly policy?: Policy; readonly transport?: "jsonrpc" | "http+json" } = {}) {
  const { policy, ...settings } = options;
  const ran: string[] = [];
  const audits = { a: memoryAudit(), b: memoryAudit() };
  const b = cleanUp.use(new ToolArsenal({ ...quiet, environment: {}, audit: audits.b, policy: policyOfB }));
  for (const [namespace, name, description] of [
    ["shipping", "track_parcel", "Says where a parcel is now."],
    ["bank", "refund", "Pays the money for an order back."],
    ["vault", "open", "Opens the vault."],
  ] as const) {
    const parameters = {
      type: "object",
      properties: { order: { type: "string", description: "The number of the order." }, amount: { type: "number" } },
      required: ["order"],
    } as const;
    b.register({ namespace, name, description, parameters }, (args) => {
      ran.push(name);
      return { did: name, ...args };
    });
  }
  const principal = localOperator({ id: "arsenal-a", local: false, roles: [] });
  const identity = apiKeys({ keys: [{ id: "arsenal-a", hash: hashOfKey(key), principal }] });
  const gateway = await b.serve({ port: 0, identity });
  cleanUp.defer(() => gateway.close());

  const a = cleanUp.use(
    new ToolArsenal({ ...quiet, environment: { B_KEY: key }, audit: audits.a, ...(policy && { policy }) }),
  );
  const credentials = { bearer: "env:B_KEY" } as const;
  await a.addA2aAgent({ name: "b", url: gateway.url ?? "", credentials, refreshS: 0, ...settings });
  return { a, b, audits, ran };
}

const TRACK = { toolName: "b.a2a_b_shipping_track_parcel", arguments: { order: "A-17" } };
const refund = (amount: number) => ({ toolName: "b.a2a_b_bank_refund", arguments: { order: "A-17", amount } });

/** The calls in an audit log that belong to a trace. */
const callsIn = ({ lines }: MemoryAudit, traceId: string): readonly string[] =>
  lines.filter((line) => line.includes(`"${traceId}"`));

describe("an arsenal that uses another over A2A", () => {
  it.each(["jsonrpc", "http+json"] as const)("finds a tool of the other and runs it, over %s", async (transport) => {
    const { a, ran } = await twoArsenals({ transport });
    const { tools } = await a.retrieve({ context: { query: "where is the parcel of order A-17 now?" } });
    expect(tools[0]?.tool).toMatchObject({
      id: TRACK.toolName,
      description: expect.stringContaining("Says where a parcel is now.") as string,
      parameters: { properties: { order: { description: "The number of the order." } }, required: ["order"] },
    });
    expect(await a.execute(TRACK)).toMatchObject({
      status: "success",
      result: { did: "track_parcel", order: "A-17" },
    });
    expect(ran).toEqual(["track_parcel"]);
    const incomplete = await a.execute({ ...TRACK, arguments: {} });
    expect(incomplete).toMatchObject({ attempts: 0, error: { code: "ARGUMENTS_INVALID" } });
  });

  it("writes the same trace id into both audit logs", async () => {
    const { a, audits } = await twoArsenals();
    const { traceId } = await a.execute(TRACK);
    expect(callsIn(audits.a, traceId)).toHaveLength(1);
    expect(callsIn(audits.b, traceId)).toEqual([expect.stringContaining("arsenal-a")]);
  });

  it("is stopped by its own policy before the other hears of it", async () => {
    const policy: Policy = {
      sees: () => true,
      decide: () => ({ effect: "deny", rule: "none", reason: "Nothing may run today." }),
    };
    const { a, audits, ran } = await twoArsenals({ policy });
    const heard = audits.b.lines.length;
    expect(await a.execute(TRACK)).toMatchObject({ status: "permission_denied", attempts: 0 });
    expect(audits.b.lines).toHaveLength(heard);
    expect(ran).toEqual([]);
  });

  it("does not see what the other hides from it, and is denied what the other denies", async () => {
    const { a, ran } = await twoArsenals();
    expect((await a.listTools()).map(({ id }) => id)).toEqual([
      refund(0).toolName,
      TRACK.toolName,
      "b.a2a_b_tool_discovery",
      "b.a2a_b_tool_execution",
    ]);
    expect(await a.execute(refund(500))).toMatchObject({
      status: "permission_denied",
      error: {
        code: "PERMISSION_DENIED",
        message: expect.stringContaining("Refunds above 100 are refused.") as string,
      },
    });
    expect(ran).toEqual([]);
  });

  it("still trusts the other's own skills after the other's catalog changed", async () => {
    const { a, b } = await twoArsenals();
    const { url, close } = await a.serve({ port: 0 });
    cleanUp.defer(close);
    const reload = (): Promise<Response> => fetch(`${url}/api/v1/ensembles/b/reload`, { method: "POST" });
    b.toolsets.add(toolset("desk", { namespaces: ["atlas"] }));
    expect(await (await reload()).json()).toMatchObject({ state: "connected" });
    const tool = {
      namespace: "atlas",
      name: "a_map",
      description: "Shows a map.",
      tags: ["map"],
      examples: ["Where?"],
    };
    b.register(tool, () => "a map");
    expect(await (await reload()).json()).toMatchObject({ state: "connected" });
    const pins = (await a.pins?.list()) ?? [];
    expect(pins.filter(({ state }) => state === "changed")).toEqual([]);
    expect(pins.map(({ id }) => id)).toEqual(expect.arrayContaining(["b.a2a_b_toolset_desk", "b.a2a_b_atlas_a_map"]));
  });

  it("waits for an approval that the other asks for, and goes on once it is given", async () => {
    const { a, b, audits, ran } = await twoArsenals();
    const asked = await a.execute({ ...refund(5), idempotencyKey: "refund-1" });
    const [waiting] = await b.approvals.list();
    expect(asked).toMatchObject({
      status: "pending_confirmation",
      error: {
        code: "CONFIRMATION_REQUIRED",
        message: expect.stringContaining("Refunds need an approval.") as string,
        fix: expect.stringContaining(`Approve ${waiting?.id} at the agent b, then make the same call again.`) as string,
      },
    });
    // The approval is not one of A: nobody there can give it.
    expect(asked).not.toHaveProperty("confirmationId");
    expect(await a.approvals.list()).toEqual([]);
    expect(callsIn(audits.a, asked.traceId)).toEqual([
      expect.stringMatching(/"decision":{"effect":"allowed".*"status":"pending_confirmation"/),
    ]);
    expect(internalsOf(a).health(refund(5).toolName)).toMatchObject({ totalCalls: 0, consecutiveFailures: 0 });
    expect(ran).toEqual([]);
    await b.approvals.approve(waiting?.id ?? "", localOperator());
    expect(await a.execute({ ...refund(5), idempotencyKey: "refund-1" })).toMatchObject({
      status: "success",
      result: { did: "refund", amount: 5 },
    });
    expect(ran).toEqual(["refund"]);
  });

  it.each(["jsonrpc", "http+json"] as const)("gets what a tool returns as it is, over %s", async (transport) => {
    const { a, b } = await twoArsenals({ transport });
    const returned = [
      [1, "two", { three: 3 }],
      [],
      42,
      0,
      true,
      null,
      "text",
      { value: [1] },
      { value: 5, unit: "kg" },
    ];
    b.register({ namespace: "box", name: "open", description: "Opens a box." }, () => returned.shift());
    const expected = [...returned];
    const { url, close } = await a.serve({ port: 0 });
    cleanUp.defer(close);
    await fetch(`${url}/api/v1/ensembles/b/reload`, { method: "POST" });
    const got: unknown[] = [];
    while (returned.length > 0) got.push((await a.execute({ toolName: "b.a2a_b_box_open" })).result);
    expect(got).toEqual(expected);
  });
});
