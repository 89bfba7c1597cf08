import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInMemory, type Ran } from "../../../../test/e2e/terminal.ts";
import { sqliteState } from "../../../adapters/state/sqlite.ts";
import { type Aegis, type AegisRequest, createAegis } from "../../../guard/aegis.ts";
import { localOperator } from "../../../guard/principal.ts";
import type { SharedState } from "../../../state/shared-state.ts";
import { systemClock } from "../../../observe/clock.ts";
import { defineTool } from "../../../tool/define-tool.ts";

let folder: string;
let state: SharedState;
let waiting: Aegis;

const CONFIG = "state: { file: ./.toolarsenal/state.sqlite }\naudit: { file: ./audit.jsonl }\n";

const pay = defineTool({ name: "pay", description: "Pays an amount to somebody.", parameters: {}, createdAt: 0 });
const agent = localOperator({ id: "agent", roles: [], local: false });

/** A call that waits, as another process's guard holds it. */
async function ask(amount: number, principal = agent): Promise<AegisRequest & { readonly confirmationId: string }> {
  const request = { tool: pay, arguments: { amount }, principal, requireConfirmation: true };
  const decision = await waiting.decide(request);
  if (decision.effect !== "confirm") throw new Error("No confirmation was asked for.");
  return { ...request, confirmationId: decision.confirmationId };
}

const run = (...argv: string[]): Promise<Ran> => runInMemory(["approvals", ...argv], { folder });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-approvals-"));
  await writeFile(join(folder, "arsenal.yaml"), CONFIG);
  state = sqliteState({ file: join(folder, ".toolarsenal", "state.sqlite") });
  waiting = createAegis({
    policy: { sees: () => true, decide: () => ({ effect: "allow" }) },
    state: state.documents,
    clock: systemClock,
    emit: () => {},
    settings: { maxRequestsPerMinute: 60, confirmationTimeoutS: 600, selfApproval: "never" },
  });
});
afterAll(async () => {
  await state.close();
  await rm(folder, { recursive: true });
});

describe("toolarsenal approvals", () => {
  it("shows what waits in another process, and lets it go on", async () => {
    const request = await ask(5);
    const { confirmationId: id } = request;
    const listed = await run("list");
    expect(listed).toMatchObject({ code: 0, err: "1 call waits\n" });
    expect(listed.out).toMatch(
      new RegExp(`^${id}  pending  default.pay  by agent  (599|600) s left  \\{"amount":5\\}\n$`),
    );
    expect(JSON.parse((await run("list", "--json")).out)).toMatchObject([
      { id, state: "pending", arguments: { amount: 5 } },
    ]);

    expect(await waiting.decide(request)).toMatchObject({ effect: "confirm" });
    expect(await run("approve", id)).toEqual({
      code: 0,
      out: "",
      err: `${id} is approved. Now have the same call made again: it runs once.\n`,
    });
    expect(await waiting.decide(request)).toEqual({ effect: "allow" });
    expect(await waiting.redeem(request)).toEqual({ effect: "allow" });
    expect(await run("approve", id)).toMatchObject({ code: 1, err: expect.stringContaining("was already used") });
    const records = readFileSync(join(folder, "audit.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records).toMatchObject([
      { kind: "checkpoint" },
      { kind: "approval", id, outcome: "approved", by: "local" },
      { kind: "checkpoint" },
      { kind: "checkpoint" },
      { kind: "approval", id, outcome: "refused", because: "settled", by: "local" },
      { kind: "checkpoint" },
    ]);
  });

  it("denies", async () => {
    const request = await ask(6);
    const { confirmationId: id } = request;
    expect(await run("deny", id, "--json")).toEqual({ code: 0, out: `{"id":"${id}","outcome":"denied"}\n`, err: "" });
    expect(await waiting.decide(request)).toMatchObject({
      effect: "deny",
      reason: expect.stringContaining("was denied"),
    });
  });

  it("shows what hides in the arguments", async () => {
    const args = { to: "dana\u202Enimda\u009B8m" };
    const decision = await waiting.decide({ tool: pay, arguments: args, principal: agent, requireConfirmation: true });
    expect((await run("list")).out).toContain(String.raw`{"to":"dana\u202enimda\u009b8m"}`);
    if (decision.effect === "confirm") await waiting.approvals.deny(decision.confirmationId, agent);
  });

  it("does not approve the local operator's own call where the gateway that asked forbids it, whatever is configured here", async () => {
    const { confirmationId } = await ask(7, localOperator());
    await writeFile(join(folder, "self.yaml"), `${CONFIG}security: { self_approval: local }\n`);
    for (const config of ["arsenal.yaml", "self.yaml"]) {
      const refused = await run("approve", confirmationId, "--config", config);
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('"local" requested default.pay') });
      expect(refused.err).toContain("Let another approver answer, or set security.self_approval to local");
    }
    expect((await run("deny", confirmationId)).code).toBe(0);
  });

  it("shows as many as asked for, and says that more wait", async () => {
    const ids: string[] = [];
    for (const amount of [11, 12, 13]) ids.push((await ask(amount)).confirmationId);
    const listed = await run("list", "--limit", "2", "--json");
    expect((JSON.parse(listed.out) as { readonly id: string }[]).map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(await run("list", "--limit", "2")).toMatchObject({
      err: "2 calls wait. The oldest are shown, more wait. Show them with --limit.\n",
    });
    expect(await run("list", "--limit", "3")).toMatchObject({ err: "3 calls wait\n" });
    for (const id of ids) await run("deny", id);
  });

  it("says so where no call waits with that id", async () => {
    const { code, err } = await run("approve", "0f4c");
    expect([code, err]).toEqual([1, expect.stringContaining('No call waits with the id "0f4c". List the calls')]);
  });

  it.each([
    [["accept", "x"], 'There is no action "approvals accept". Use list, approve or deny.'],
    [["approve"], '"approvals approve" needs ID. For example: toolarsenal approvals approve 0f4c…'],
  ])("says what is wrong with %j", async (argv, message) => {
    expect(await run(...argv)).toMatchObject({ code: 2, err: `INPUT_INVALID ${message}\n` });
  });

  it.each(["{}", "state: { file: ':memory:' }"])("says that approvals in memory cannot be seen: %s", async (config) => {
    await writeFile(join(folder, "memory.yaml"), `${config}\n`);
    const { code, err } = await run("list", "--config", "memory.yaml");
    expect([code, err]).toEqual([2, expect.stringContaining("Set state.file")]);
  });
});
