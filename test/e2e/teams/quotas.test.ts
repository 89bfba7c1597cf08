import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { some } from "../../kit/effort.ts";
import { STORES, type StateService } from "../replicas/states.ts";
import { type Fleet, ROOT_TOKEN, startFleet } from "./fleet.ts";

const SECRET = "a secret that is long enough to sign with";

interface Alert {
  readonly tenant: string;
  readonly unit: string;
  readonly kind: string;
  readonly percent?: number;
}

describe.each(some(STORES, 1, "quotas"))("quotas on three gateways that share $name", (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-quotas-"));
  const alerts: Alert[] = [];
  const signed: boolean[] = [];
  let hook: Server;
  let store: StateService;
  let fleet: Fleet;

  beforeAll(async () => {
    hook = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const time = String(request.headers["x-toolarsenal-timestamp"]);
      const right = createHmac("sha256", SECRET).update(`${time}.${body}`).digest("hex");
      signed.push(request.headers["x-toolarsenal-signature"] === `sha256=${right}`);
      alerts.push(JSON.parse(body) as Alert);
      response.end();
    }).listen(0, "127.0.0.1");
    await once(hook, "listening");
    store = await kind.open(folder);
    const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;
    const settings = { ...store.settings, teams: { alertWebhook: { url, secret: SECRET } } };
    fleet = await startFleet(settings, (arsenal) => {
      arsenal.register({ name: "ping", description: "Answers at once.", parameters: {} }, () => "pong");
      arsenal.register(
        { name: "paid", description: "Costs a dime.", parameters: {}, cost: { monetaryCost: 0.1 } },
        () => "done",
      );
    });
  }, 120_000);
  afterAll(async () => {
    await fleet?.close();
    await store?.close();
    hook?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Calls a tool from 64 callers at once, spread over the gateways, and counts how the calls ended. */
  async function callTogether(key: string, toolName: string, times: number): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    let left = times;
    const caller = async (_: unknown, index: number): Promise<void> => {
      while (left > 0) {
        left--;
        const { body } = await fleet.ask(index % 3, key, "POST", "/execute", { toolName });
        const ended = String(body.code ?? body.status);
        counts[ended] = (counts[ended] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 64 }, caller));
    return counts;
  }

  const usedBy = async (tenant: string) =>
    (await fleet.ask(1, ROOT_TOKEN, "GET", `/tenants/${tenant}/quotas`)).body.quotas;

  it("let exactly as many calls run as the hard limit says, with 64 callers", async () => {
    await fleet.tenant("acme", { quotas: [{ unit: "calls", period: "month", soft: 80, hard: 100 }] });
    const key = await fleet.key("acme-bot", { tenant: "acme" });
    expect(await callTogether(key, "default.ping", 200)).toEqual({ success: 100, QUOTA_EXCEEDED: 100 });
    expect(await usedBy("acme")).toMatchObject([{ unit: "calls", period: "month", used: 100, soft: 80, hard: 100 }]);
    const refused = await fleet.ask(2, key, "POST", "/execute", { toolName: "default.ping" });
    expect(refused.status).toBe(429);
    expect(refused.body.detail).toMatch(
      /^default\.ping was not called: the tenant acme has used its 100 calls of this month\. The quota resets at \d{4}-\d\d-\d\dT00:00:00\.000Z\./,
    );
    const other = await fleet.ask(0, ROOT_TOKEN, "POST", "/execute", { toolName: "default.ping" });
    expect(other.body.result).toBe("pong");
  });

  it("add costs up exactly, refuse what would exceed them, and alert once for each limit and share of the budget", async () => {
    await fleet.tenant("globex", {
      quotas: [{ unit: "cost", period: "month", hard: 3 }],
      budgets: [{ period: "month", amount: 4, alertAt: [50, 100] }],
    });
    const key = await fleet.key("globex-bot", { tenant: "globex" });
    expect(await callTogether(key, "default.paid", 64)).toEqual({ success: 30, QUOTA_EXCEEDED: 34 });
    expect(await usedBy("globex")).toMatchObject([{ unit: "cost", period: "month", used: 3, hard: 3, budget: 4 }]);
    // A tool without a cost still runs.
    expect(await callTogether(key, "default.ping", 10)).toEqual({ success: 10 });
    await expect
      .poll(
        () => alerts.map(({ tenant, unit, kind: of, percent }) => [tenant, unit, of, percent ?? ""].join(" ")).sort(),
        {
          timeout: 20_000,
        },
      )
      .toEqual(["acme calls hard ", "acme calls soft ", "globex cost budget 50", "globex cost hard "]);
    expect(signed).toEqual([true, true, true, true]);
  });

  it("follow a changed quota on every gateway, and refuse once the tokens are used up", async () => {
    await fleet.tenant("initech", { quotas: [{ unit: "tokens", period: "month", hard: 1 }] });
    const key = await fleet.key("initech-bot", { tenant: "initech" });
    const call = async (at: number): Promise<string> => {
      const { body } = await fleet.ask(at, key, "POST", "/execute", { toolName: "default.ping" });
      return String(body.code ?? body.status);
    };
    expect([await call(0), await call(1), await call(2)]).toEqual(["success", "QUOTA_EXCEEDED", "QUOTA_EXCEEDED"]);
    await fleet.ask(0, ROOT_TOKEN, "PUT", "/tenants/initech", { quotas: [] });
    for (const at of [0, 1, 2]) await expect.poll(() => call(at), { timeout: 20_000 }).toBe("success");
  });
});
