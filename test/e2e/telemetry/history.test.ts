import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryEngine } from "../../../src/adapters/engines/memory.ts";
import { sqliteState } from "../../../src/adapters/state/sqlite.ts";
import { localOperator } from "../../../src/guard/principal.ts";
import { ToolArsenal, type ToolArsenalConfig } from "../../../src/index.ts";
import { readHistory } from "../../../src/observe/history/history.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/manual-clock.ts";
import { runInMemory } from "../terminal.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "arsenal-history-"));
  writeFileSync(join(folder, "arsenal.yaml"), "state: { file: ./state.sqlite }\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

function open(telemetry: ToolArsenalConfig["telemetry"] = {}, clock?: ManualClock): ToolArsenal {
  const arsenal = new ToolArsenal({
    state: { file: join(folder, "state.sqlite") },
    telemetry: { enabled: false, ...telemetry },
    security: { requireConfirmation: [] },
    ...(clock === undefined ? {} : { clock }),
  });
  const parameters = { type: "object" } as const;
  const add = (name: string, description: string, monetaryCost?: number): void => {
    const cost = monetaryCost === undefined ? {} : { cost: { monetaryCost } };
    arsenal.register({ name, namespace: "shop", description, parameters, ...cost }, () => "done");
  };
  add("refund_order", "Gives a customer their money back.", 0.5);
  add("lookup_order", "Looks up an order of a customer.", 0.25);
  for (let number = 0; number < 12; number++) add(`report_${number}`, `Writes report ${number} about customers.`);
  return arsenal;
}

const QUERY = { context: { query: "give the customer their money back" }, limit: 3 };

describe("toolarsenal why", () => {
  it("reproduces the ranking of a past retrieval with every signal's number, and its calls, after a restart", async () => {
    const arsenal = open();
    const { traceId, explanation, tools } = await arsenal.retrieve({ ...QUERY, explain: true });
    await arsenal.execute({ toolName: "shop.lookup_order", arguments: {}, traceId });
    await arsenal.close();

    const { code, out } = await runInMemory(["why", traceId, "--json"], { folder });
    expect(code).toBe(0);
    const { retrievals, calls } = JSON.parse(out) as { readonly retrievals: object[]; readonly calls: object[] };
    expect(explanation?.leftOut.length).toBeGreaterThan(5);
    expect(retrievals).toMatchObject([{ traceId, query: QUERY.context.query, explanation }]);
    expect(calls).toMatchObject([{ traceId, toolId: "shop.lookup_order", status: "success", attempts: 1, cost: 0.25 }]);

    const text = await runInMemory(["why", traceId], { folder });
    expect(text.out).toContain("give the customer their money back");
    expect(text.out).toMatch(
      /^understand \d+\.\d ms, filter \d+\.\d ms, lexical \d+\.\d ms, dense \d+\.\d ms, fuse \d+\.\d ms, fit \d+\.\d ms$/m,
    );
    for (const { tool, score } of tools) expect(text.out).toMatch(new RegExp(`${score.toFixed(3)} +${tool.id}`));
    expect(text.out).toMatch(/shop\.lookup_order +success +1/);
  });

  it("answers for every process that shares the state, also for one that was asked without an explanation", async () => {
    const [first, second] = [open(), open()];
    const asked = await first.retrieve(QUERY);
    expect(asked.explanation).toBeUndefined();
    await second.execute({ toolName: "shop.refund_order", arguments: {}, traceId: asked.traceId });
    await Promise.all([first.close(), second.close()]);
    const { out } = await runInMemory(["why", asked.traceId, "--json"], { folder });
    const { retrievals, calls } = JSON.parse(out) as {
      readonly retrievals: readonly {
        readonly explanation: { readonly chosen: readonly { readonly toolId: string }[] };
      }[];
      readonly calls: readonly object[];
    };
    expect(retrievals[0]?.explanation.chosen.map(({ toolId }) => toolId)).toEqual(
      asked.tools.map(({ tool }) => tool.id),
    );
    expect(calls).toHaveLength(1);
  });

  it("lists the latest requests if none is named, and says what is kept if the trace is unknown", async () => {
    const arsenal = open();
    const { traceId } = await arsenal.retrieve(QUERY);
    await arsenal.close();
    expect((await runInMemory(["why"], { folder })).out).toContain(traceId);
    const unknown = await runInMemory(["why", "0".repeat(32)], { folder });
    expect([unknown.code, unknown.out]).toEqual([1, ""]);
    expect(unknown.err).toContain("The last 10000 searches and calls are stored for 7 days");
  });

  it("says where to keep requests if the state is in memory", async () => {
    writeFileSync(join(folder, "arsenal.yaml"), "state: { type: memory }\n");
    const { code, err } = await runInMemory(["why", "1".repeat(32)], { folder });
    expect(code).not.toBe(0);
    expect(err).toContain("Set state.file");
  });
});

describe("the history", () => {
  async function kept(clock?: ManualClock): Promise<Awaited<ReturnType<typeof readHistory>>> {
    const state = sqliteState({ file: join(folder, "state.sqlite"), ...(clock && { clock }) });
    try {
      return await readHistory(state.documents, () => true);
    } finally {
      await state.close();
    }
  }

  it("keeps each request as it was, though the caller uses one object for all", async () => {
    const arsenal = open();
    const [query, principal] = [
      { context: { query: "" }, limit: 3 },
      { ...localOperator(), tenant: "" },
    ];
    for (const asked of ["refund an order", "look up an order"]) {
      query.context.query = asked;
      principal.tenant = asked.slice(0, 4);
      await arsenal.retrieve({ ...query, principal });
    }
    query.context.query = "nothing";
    await arsenal.close();
    expect(await kept()).toMatchObject([
      { query: "refund an order", tenant: "refu" },
      { query: "look up an order", tenant: "look" },
    ]);
  });

  it("keeps no secret that a request contains, and no text at all if told so", async () => {
    const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    const query = { ...QUERY, context: { query: `refund the customer with ${secret}` } };
    for (const text of [true, false]) {
      const arsenal = open({ history: { text } });
      await arsenal.retrieve(query);
      await arsenal.close();
    }
    const records = await kept();
    expect(JSON.stringify(records)).not.toContain(secret);
    expect(JSON.stringify(records).toLowerCase()).not.toContain("16c7e42f292c");
    expect(
      records.map((record) => record.kind === "retrieval" && record.query?.startsWith("refund the customer")),
    ).toEqual([true, undefined]);
  });

  it("keeps no more than its bounds: records, over restarts, and days", async () => {
    const clock = createManualClock(Date.now());
    for (let round = 0; round < 6; round++) {
      const arsenal = open({ history: { max: 20, maxAgeDays: 2 } }, clock);
      for (let call = 0; call < 10; call++) await arsenal.execute({ toolName: "shop.report_1", arguments: {} });
      await arsenal.close();
      await clock.advance(60_000);
    }
    const records = await kept(clock);
    expect(records.length).toBeGreaterThanOrEqual(16);
    expect(records.length).toBeLessThanOrEqual(20);
    await clock.advance(3 * 86_400_000);
    const arsenal = open({ history: { max: 20, maxAgeDays: 2 } }, clock);
    await arsenal.execute({ toolName: "shop.report_1", arguments: {} });
    await arsenal.close();
    expect(await kept(clock)).toHaveLength(1);
  });

  it("explains a retrieval only when its caller has the answer, and reads the request once for all tools", async () => {
    const engine = memoryEngine();
    let explained = 0;
    const arsenal = new ToolArsenal({
      telemetry: { enabled: false, history: { enabled: true } },
      embedder: { tier: "lexical" },
      engine: {
        ...engine,
        async search(query) {
          const answer = await engine.search(query);
          return { ...answer, matchedTerms: (text) => (explained++, answer.matchedTerms(text)) };
        },
      },
    });
    for (const name of ["refund", "repay", "compensate"])
      arsenal.register({ name, description: "Gives a customer their money back." }, () => "done");
    await arsenal.retrieve(QUERY);
    expect(explained).toBe(0);
    await arsenal.close();
    expect(explained).toBe(1);
  });

  it("can be switched off", async () => {
    const arsenal = open({ history: { enabled: false } });
    await arsenal.retrieve(QUERY);
    await arsenal.close();
    expect(await kept()).toEqual([]);
  });
});

describe("toolarsenal costs", () => {
  it("adds up what calls cost by tool, tenant and day, over processes [002-integration-cost]", async () => {
    const acme = localOperator({ id: "agent", tenant: "acme", local: false });
    let priced = "";
    for (let process = 0; process < 2; process++) {
      const arsenal = open();
      priced = (await arsenal.execute({ toolName: "shop.lookup_order", arguments: {}, principal: acme })).traceId;
      await arsenal.execute({ toolName: "shop.refund_order", arguments: {} });
      await arsenal.execute({ toolName: "shop.report_2", arguments: {} });
      await arsenal.close();
    }
    const costs = async (by: string): Promise<unknown> =>
      (JSON.parse((await runInMemory(["costs", "--by", by, "--json"], { folder })).out) as { costs: unknown }).costs;
    expect(await costs("tool")).toEqual([
      { name: "shop.refund_order", calls: 2, cost: 1 },
      { name: "shop.lookup_order", calls: 2, cost: 0.5 },
    ]);
    expect(await costs("tenant")).toEqual([
      { name: "none", calls: 2, cost: 1 },
      { name: "acme", calls: 2, cost: 0.5 },
    ]);
    expect(await costs("day")).toMatchObject([{ calls: 4, cost: 1.5 }]);
    expect((await runInMemory(["costs"], { folder })).out).toMatch(/shop\.refund_order +2 +1\.0000/);
    appendFileSync(join(folder, "arsenal.yaml"), "telemetry: { prices: { currency: EUR } }\n");
    expect((await runInMemory(["why", priced], { folder })).out).toMatch(/ cost \(EUR\) [^]* 0\.25 /);
    const { out } = await runInMemory(["costs"], { folder });
    expect(out).toMatch(/tool +calls +cost \(EUR\)\nshop\.refund_order +2 +1\.0000/);
    expect(JSON.parse((await runInMemory(["costs", "--json"], { folder })).out)).toMatchObject({ currency: "EUR" });
  });
});
