import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { CAPABILITIES, type Principal, type ToolArsenal } from "../../../src/index.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";
import { operate, type OperatedGateway } from "./operated-gateway.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-rest-audit-"));
  // After the gateways have closed, which write to it.
  onTestFinished(() => rm(folder, { recursive: true }));
});

const caller = (id: string, tenant?: string): Principal => ({
  id,
  roles: [],
  capabilities: CAPABILITIES,
  scopes: ["*"],
  local: false,
  ...(tenant !== undefined && { tenant }),
});

/** A gateway after six calls, a minute from one to the next. */
async function after(): Promise<OperatedGateway> {
  const clock = createManualClock(Date.UTC(2026, 4, 1));
  const fill = async (arsenal: ToolArsenal): Promise<void> => {
    for (const name of ["greet", "fail"])
      arsenal.register({ name, description: `It can ${name}.`, parameters: { type: "object" } }, () => {
        if (name === "fail") throw new Error("no");
      });
    const calls = [
      ["greet", caller("ann")],
      ["fail", caller("ann")],
      ["greet", caller("bo", "north")],
      ["greet", caller("cy", "south")],
      ["nothing", caller("ann")],
      ["greet", caller("ann")],
    ] as const;
    for (const [toolName, principal] of calls) {
      await arsenal.execute({ toolName, arguments: {}, principal, traceId: principal.id.padEnd(32, "0") });
      await clock.advance(60_000);
    }
  };
  const config = { audit: { file: join(folder, "audit.jsonl") } };
  return operate(config, { fill, parts: { clock } });
}

const toolsOf = ({ body }: { readonly body: { records: { toolId?: string }[] } }): unknown =>
  body.records.map(({ toolId }) => toolId);

describe("GET /api/v1/audit", () => {
  it("lists records newest first, a page at a time", async () => {
    const gateway = await after();
    const first = await gateway.ask("olga", "GET", "/audit?kind=call&limit=4");
    expect(first).toMatchObject({
      status: 200,
      body: { records: [{ kind: "call", principal: "ann", seq: 7 }, {}, {}, {}] },
    });
    expect(toolsOf(first)).toEqual(["default.greet", "(unknown)", "default.greet", "default.greet"]);
    await gateway.arsenal.execute({ toolName: "greet", arguments: {} });
    const second = await gateway.ask("olga", "GET", `/audit?kind=call&limit=4&cursor=${first.body.next}`);
    expect(toolsOf(second)).toEqual(["default.fail", "default.greet"]);
    expect(second.body.next).toBe(undefined);
  });

  it("is empty before the first record", async () => {
    const gateway = await operate({ audit: { file: join(folder, "audit.jsonl") } });
    expect(await gateway.ask("olga", "GET", "/audit")).toMatchObject({ status: 200, body: { records: [] } });
  });

  it.each([
    ["tool=default.fail", ["default.fail"]],
    ["principal=cy", ["default.greet"]],
    ["status=failure", ["(unknown)", "default.fail"]],
    ["status=success&principal=ann", ["default.greet", "default.greet"]],
    ["kind=approval", []],
    [`trace=${"bo".padEnd(32, "0")}`, ["default.greet"]],
    ["kind=call&from=2026-05-01T00:04:00Z", ["default.greet", "(unknown)"]],
    ["kind=call&to=2026-05-01T00:02:00Z", ["default.fail", "default.greet"]],
    ["kind=call&from=2026-05-01T00:01:00Z&to=2026-05-01T00:02:00Z", ["default.fail"]],
  ])("filters by %s", async (query, tools) => {
    const gateway = await after();
    expect(toolsOf(await gateway.ask("olga", "GET", `/audit?${query}`))).toEqual(tools);
  });

  it("shows an operator of a tenant that tenant's calls and nothing else", async () => {
    const gateway = await after();
    expect((await gateway.ask("nora", "GET", "/audit")).body.records).toMatchObject([
      { principal: "bo", tenant: "north" },
    ]);
  });

  it("refuses callers without the role, bad filters and gateways without a log", async () => {
    const gateway = await after();
    expect((await gateway.ask("guest", "GET", "/audit")).status).toBe(403);
    expect((await gateway.ask("ada", "POST", "/audit/verify", {})).status).toBe(403);
    for (const query of ["from=yesterday", "limit=0", "limit=5000", "cursor=x", "nonsense=1", "to="])
      expect((await gateway.ask("olga", "GET", `/audit?${query}`)).body).toMatchObject({
        status: 400,
        code: "INPUT_INVALID",
      });
    const none = await operate();
    for (const [method, path] of [
      ["GET", "/audit"],
      ["POST", "/audit/verify"],
    ] as const)
      expect((await none.ask("olga", method, path)).body).toMatchObject({
        status: 404,
        code: "CONFIG_INVALID",
        fix: expect.stringContaining("audit.file"),
      });
  });
});

describe("POST /api/v1/audit/verify", () => {
  it("says that no record was changed, up to a head that was kept, or which one is bad", async () => {
    const gateway = await after();
    const whole = await gateway.ask("olga", "POST", "/audit/verify", {});
    expect(whole).toMatchObject({ status: 200, body: { ok: true, records: 7, signedUpTo: 1, head: { seq: 7 } } });
    const { head } = whole.body;
    expect((await gateway.ask("olga", "POST", "/audit/verify", { head })).body).toMatchObject({ ok: true });
    const later = { seq: 9, hash: head.hash };
    expect((await gateway.ask("olga", "POST", "/audit/verify", { head: later })).body).toMatchObject({
      ok: false,
      seq: 8,
    });
    const file = join(folder, "audit.jsonl");
    await writeFile(file, (await readFile(file, "utf8")).replace('"principal":"cy"', '"principal":"dy"'));
    const changed = await gateway.ask("olga", "POST", "/audit/verify", {});
    expect(changed.body).toEqual({ ok: false, seq: 5, reason: expect.stringContaining("was changed") });
    expect((await gateway.ask("olga", "POST", "/audit/verify", { head: "7" })).status).toBe(400);
  });
});
