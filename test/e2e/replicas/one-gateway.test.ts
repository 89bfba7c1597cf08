import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { some } from "../../kit/effort.ts";
import { accepted, type Called, legacyClient, messagesIn, modernClient } from "./clients.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { STATES } from "./states.ts";

describe.each(some(STATES, 1, "one-gateway"))("three replicas on $name act as one gateway", ({ open }) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(open);
  });
  afterAll(() => fleet?.close());

  const at = (index: number, key = fleet.keys.asker) => ({ url: fleet.replica(index).url, key });
  const anywhere = () => ({ url: fleet.proxy.url, key: fleet.keys.asker });

  it("admit 60 calls a minute, whichever of them is called", async () => {
    const clients = [modernClient(anywhere()), await legacyClient(anywhere()), modernClient(anywhere())];
    const calls = Array.from({ length: 150 }, (_, index) =>
      clients[index % clients.length]?.call("young-rated", { id: `rated ${index}` }),
    );
    const outcomes = await Promise.all(calls);
    const admitted = outcomes.filter((outcome) => outcome?.said !== undefined);
    expect(outcomes.find((outcome) => outcome?.failed !== undefined)?.failed).toContain("60 a minute");
    expect(Math.abs(admitted.length - 60)).toBeLessThanOrEqual(1);
    expect([...fleet.proxy.sent.values()].length).toBe(3);
  });

  it("run a call that was asked for at one and approved at another, once", async () => {
    const bill = { id: "bill 1" };
    const asked = await modernClient(at(0)).call("young-pay", bill);
    expect(asked.said).toBeUndefined();
    const headers = { "x-api-key": fleet.keys.approver, "content-type": "application/json" };
    const list = await fetch(`${fleet.replica(1).url}/api/v1/approvals`, { headers });
    const { approvals } = (await list.json()) as { readonly approvals: readonly { readonly id: string }[] };
    expect(approvals).toHaveLength(1);
    const approve = `${fleet.replica(1).url}/api/v1/approvals/${approvals[0]?.id}/approve`;
    expect((await fetch(approve, { method: "POST", headers, body: "{}" })).status).toBe(200);
    const again = await Promise.all([2, 0, 1, 2].map((index) => modernClient(at(index)).call("young-pay", bill)));
    expect(again.filter(({ said }) => said === "paid bill 1")).toHaveLength(1);
    expect(fleet.young.executed.get("bill 1")).toBe(1);
  });

  it("let a question that started at one be answered through another", async () => {
    for (const [server, id] of [
      ["old", "greeting 1"],
      ["young", "greeting 2"],
    ] as const) {
      const asked = await modernClient(at(0), { asks: true }).call(`${server}-greet`, { id });
      const answers = accepted(asked, { name: "Ada" });
      const answered = await modernClient(at(1), { asks: true }).call(`${server}-greet`, { id }, answers);
      expect(answered).toMatchObject({ said: "hello Ada" });
      expect(fleet[server].executed.get(id)).toBe(1);
    }
    const client = await legacyClient(at(2));
    const params = { name: "old-greet", arguments: { id: "greeting 3" } };
    const stream = messagesIn(await client.post({ jsonrpc: "2.0", id: 7, method: "tools/call", params }));
    const { value: question } = await stream.next();
    const result = { action: "accept", content: { name: "Ada" } };
    const posted = await client.post({ jsonrpc: "2.0", id: question?.["id"], result }, fleet.replica(0).url);
    expect(posted.status).toBe(202);
    expect((await stream.next()).value).toMatchObject({ id: 7, result: { content: [{ text: "hello Ada" }] } });
  });

  it("know at once of a circuit that one of them opened", async () => {
    const pay = (index: number): Promise<Called> => modernClient(at(index)).call("moody-pay", { amount: 1 });
    while (!(await pay(0)).failed?.includes("failed repeatedly"));
    const { length } = fleet.moody.committed;
    for (const index of [1, 2]) expect((await pay(index)).failed).toContain("failed repeatedly");
    expect(fleet.moody.committed).toHaveLength(length);
  });
});
