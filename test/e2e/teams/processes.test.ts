import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { some } from "../../kit/effort.ts";
import { STORES, type StateService } from "../replicas/states.ts";
import { type Fleet, ROOT_TOKEN, startProcesses } from "./fleet.ts";
import { measureRevocation, WAYS } from "./revocation.ts";

// The last store is PostgreSQL if this machine has it.
describe.each(some(STORES.toReversed(), 1, "processes"))("three gateways, each a process, that share $name", (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-processes-"));
  let store: StateService;
  let fleet: Fleet;
  beforeAll(async () => {
    store = await kind.open(folder);
    fleet = await startProcesses(store.settings);
  }, 120_000);
  afterAll(async () => {
    await fleet?.close();
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("refuse a revoked key, end its streams and cancel its running calls on every surface", async () => {
    const gateways = await measureRevocation(fleet, "revoked");
    expect(gateways.map(({ calls }) => Object.keys(calls))).toEqual(Array.from({ length: 3 }, () => WAYS));
    const audited = async () => {
      const { body } = await fleet.ask(1, ROOT_TOKEN, "GET", "/audit?kind=call&limit=100");
      const records = body.records as readonly Record<string, unknown>[];
      const own = records.filter(({ principal, status }) => principal === "revoked" && status !== "started");
      return own.map(({ toolId, status, code }) => [toolId, status, code].join(" "));
    };
    await expect
      .poll(audited, { timeout: 20_000 })
      .toEqual(Array.from({ length: 12 }, () => "default.wait cancelled UNAUTHENTICATED"));
  });

  it("let exactly as many calls run as a quota says, with 64 callers", async () => {
    await fleet.tenant("acme", { quotas: [{ unit: "calls", period: "month", hard: 100 }] });
    const key = await fleet.key("acme-bot", { tenant: "acme" });
    const counts = { success: 0, QUOTA_EXCEEDED: 0 };
    let left = 200;
    const caller = async (_: unknown, index: number): Promise<void> => {
      while (left-- > 0) {
        const { body } = await fleet.ask(index % 3, key, "POST", "/execute", { toolName: "default.ping" });
        counts[(body.code ?? body.status) as keyof typeof counts]++;
      }
    };
    await Promise.all(Array.from({ length: 64 }, caller));
    expect(counts).toEqual({ success: 100, QUOTA_EXCEEDED: 100 });
    const { quotas } = (await fleet.ask(2, ROOT_TOKEN, "GET", "/tenants/acme/quotas")).body;
    expect(quotas).toMatchObject([{ unit: "calls", used: 100, hard: 100 }]);
  });
});
