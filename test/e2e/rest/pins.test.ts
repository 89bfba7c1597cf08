import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startPayServer } from "../pay-server.ts";
import { operate, type OperatedGateway } from "./operated-gateway.ts";

/** A gateway on which nothing of a server can be called before it is accepted. */
async function strict(): Promise<OperatedGateway> {
  const pay = await startPayServer();
  onTestFinished(() => pay.close());
  const folder = await mkdtemp(join(tmpdir(), "arsenal-rest-pins-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const config = { state: { file: join(folder, "state.sqlite") }, security: { pins: "all" as const } };
  return operate(config, {
    fill: (arsenal) => arsenal.addMcpServer({ name: "pay", transport: { kind: "http", url: pay.url } }),
  });
}

describe("/api/v1/pins", () => {
  it("shows operators and approvers what waits, with a diff", async () => {
    const gateway = await strict();
    for (const who of ["olga", "ada"] as const) {
      const { status, body } = await gateway.ask(who, "GET", "/pins?state=new");
      expect(status).toBe(200);
      expect(body.pins).toMatchObject([
        { id: "pay.pay", ensemble: "pay", state: "new", hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { id: "pay.pay_somebody" },
      ]);
      expect(body.pins[0].diff.join("\n")).toContain("Pays an amount.");
    }
    expect((await gateway.ask("guest", "GET", "/pins")).status).toBe(403);
    expect((await gateway.ask("olga", "GET", "/pins?state=odd")).status).toBe(400);
  });

  it("lets an approver accept what the list showed, and then it can be called", async () => {
    const gateway = await strict();
    const call = { toolName: "pay.pay", arguments: { amount: 1 } };
    expect((await gateway.arsenal.execute(call)).status).not.toBe("success");
    const { body } = await gateway.ask("ada", "GET", "/pins");
    const { hash } = body.pins[0];
    const accept = (who: "ada" | "olga", given: object) => gateway.ask(who, "POST", "/pins/pay.pay/accept", given);
    expect((await accept("olga", { hash })).body).toMatchObject({ status: 403, code: "PERMISSION_DENIED" });
    expect((await accept("ada", { hash: "0".repeat(64) })).body).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    expect((await accept("ada", { hash: "short" })).status).toBe(400);
    expect((await accept("ada", { hash: hash.slice(0, 16) })).status).toBe(204);
    expect((await gateway.arsenal.execute(call)).status).toBe("success");
    expect((await gateway.ask("ada", "GET", "/pins?state=accepted")).body.pins).toMatchObject([
      { id: "pay.pay", acceptedBy: "ada", diff: [] },
    ]);
  });

  it("answers 404 for what no server offered", async () => {
    const gateway = await strict();
    expect((await gateway.ask("ada", "POST", "/pins/pay.none/accept", {})).body).toMatchObject({ status: 404 });
    const without = await operate({ security: { pins: "off" } });
    expect((await without.ask("ada", "GET", "/pins")).body).toEqual({ pins: [] });
    expect((await without.ask("ada", "POST", "/pins/pay.pay/accept", {})).status).toBe(404);
  });
});
