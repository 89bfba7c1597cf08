import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { memoryAudit } from "../adapters/audit/memory.ts";
import { ToolArsenal } from "../arsenal.ts";
import { createVerifier } from "../guard/audit/verifier.ts";
import type { AuditLog } from "../guard/audit.port.ts";
import { localOperator } from "../guard/principal.ts";
import type { ArsenalEvent } from "../observe/events.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createToolset } from "./builder.ts";

async function audited(audit: AuditLog): Promise<{ readonly arsenal: ToolArsenal; readonly runs: string[] }> {
  const runs: string[] = [];
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, audit });
  for (const name of ["get_invoice", "delete_invoice"]) {
    const annotations = { readOnly: name === "get_invoice" };
    arsenal.register({ name, namespace: "billing", description: `Will ${name} for a customer.`, annotations }, () => {
      runs.push(name);
      return name;
    });
  }
  const draft = createToolset("audited").fromCatalog(arsenal).withTools("billing.get_invoice");
  await draft.withPolicy({ auditLog: true }).build();
  await createToolset("relaxed").fromCatalog(arsenal).withTools("billing.get_invoice").build();
  return { arsenal, runs };
}

const throughAudited = { toolName: "billing.get_invoice", toolset: "audited" };

/** A log that fails from the given record on: 0 keeps nothing. */
function failingLog(keeps: number): AuditLog {
  let left = keeps;
  const work = async (): Promise<void> => {
    if (left-- <= 0) throw new Error("disk full");
  };
  const head = (): Promise<{ seq: number; hash: string }> => work().then(() => ({ seq: 0, hash: "" }));
  return { name: "failing", append: work, head, close: async () => {} };
}

describe("the audit of calls through a toolset", () => {
  it("names the toolset in the record and in the events of each call, also of refused ones [003-policy-audit]", async () => {
    const log = memoryAudit();
    const { arsenal } = await audited(log);
    const events: ArsenalEvent[] = [];
    arsenal.subscribe((event) => events.push(event));
    await arsenal.execute(throughAudited);
    await arsenal.execute({ ...throughAudited, toolName: "billing.delete_invoice" });
    await arsenal.execute({ toolName: "billing.get_invoice" });
    await arsenal.retrieve({ context: { query: "invoice" }, toolset: "relaxed" });
    await arsenal.close();

    const records = log.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records).toMatchObject([
      { toolId: "billing.get_invoice", toolset: "audited", status: "success" },
      { toolId: "billing.delete_invoice", toolset: "audited", decision: { effect: "denied", rule: "not-visible" } },
      { toolId: "billing.get_invoice", status: "success" },
    ]);
    expect(records[2]).not.toHaveProperty("toolset");
    const named = (name: string): unknown[] =>
      events.filter((event) => event.name === name).map(({ data }) => (data as { toolset?: string }).toolset);
    expect([named("call-started"), named("call-finished"), named("retrieval-finished")]).toEqual([
      ["audited", undefined],
      ["audited", "audited", undefined],
      ["relaxed"],
    ]);
  });

  it("keeps a chain that verifies, together with records that have no toolset", async () => {
    const log = memoryAudit();
    const { arsenal } = await audited(log);
    await arsenal.execute({ toolName: "billing.get_invoice" });
    await arsenal.execute(throughAudited);
    await arsenal.close();
    const verifier = createVerifier({});
    for (const line of log.lines) verifier.take(Buffer.from(line.trimEnd()));
    expect(verifier.end()).toMatchObject({ ok: true, records: 2 });
  });

  it("refuses a call whose record cannot be kept, before it runs", async () => {
    const { arsenal, runs } = await audited(failingLog(0));
    expect(await arsenal.execute(throughAudited)).toMatchObject({
      status: "failure",
      error: { code: "AUDIT_FAILED", message: expect.stringContaining("disk full") as string },
    });
    expect(runs).toEqual([]);
    expect(await arsenal.execute({ ...throughAudited, toolset: "relaxed" })).toMatchObject({ status: "success" });
    await arsenal.close();
  });

  it("withholds the result of a call whose record was lost after it ran", async () => {
    const { arsenal, runs } = await audited(failingLog(1));
    const result = await arsenal.execute(throughAudited);
    expect([result.status, result.error?.code, result.result, runs]).toEqual([
      "failure",
      "AUDIT_FAILED",
      undefined,
      ["get_invoice"],
    ]);
    await arsenal.close();
  });
});

describe("the rate of a toolset", () => {
  it("holds over every process on the same state [003-policy-rate]", async () => {
    const file = join(await mkdtemp(join(tmpdir(), "toolset-rate-")), "state.sqlite");
    const clock = createManualClock(1_000);
    const policy = { rateLimit: { requestsPerMinute: 2 } };
    const toolsets = [{ name: "slow", include: { namespaces: ["billing"] }, policy }];
    const start = (): ToolArsenal => {
      const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, state: { file }, toolsets, clock });
      arsenal.register({ name: "ping", namespace: "billing", description: "Answers when it is called." }, () => "pong");
      return arsenal;
    };
    await using one = start();
    await using other = start();
    const call = { toolName: "billing.ping", toolset: "slow" };
    const caller = localOperator({ id: "ann", local: false });
    const results = [
      await one.execute(call),
      await other.execute(call),
      await one.execute({ ...call, principal: caller }),
      await other.execute({ ...call, principal: caller }),
      await other.execute({ toolName: "billing.ping" }),
    ];
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      undefined,
      "RATE_LIMITED",
      "RATE_LIMITED",
      undefined,
    ]);
  });
});
