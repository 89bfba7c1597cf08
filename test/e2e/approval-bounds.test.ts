import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqliteState } from "../../src/adapters/state/sqlite.ts";
import { repeats } from "../kit/effort.ts";
import { type Caller, type KeyedAnswer, type KeyedGateway, startKeyedGateway } from "./rest/keyed-gateway.ts";

/** A tool whose calls wait for a person. */
const MODULE = `export default (arsenal) => arsenal.register(
  { name: "delete_page", description: "Deletes a page.", parameters: { type: "object", properties: { text: { type: "string" } } } },
  () => "deleted");`;

/** Arguments as large as the gateway takes in one request. */
const LARGE = "x".repeat(3_900_000);
/** So many of them that they do not fit into the heap of the gateway, in MiB, if they are kept. */
const TOO_MANY = repeats(33, 65);
const HEAP = repeats(256, 512);

let folder: string;
let gateway: KeyedGateway | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolarsenal-approvals-"));
  writeFileSync(join(folder, "pages.mjs"), MODULE);
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  rmSync(folder, { recursive: true });
});

async function start(perMinute = 100_000): Promise<KeyedGateway> {
  gateway = await startKeyedGateway({
    nodeOptions: [`--max-old-space-size=${HEAP}`],
    settings: {
      modules: [join(folder, "pages.mjs")],
      state: { file: join(folder, "state.sqlite") },
      audit: { file: join(folder, "audit.jsonl") },
    },
    security: { max_requests_per_minute: perMinute },
  });
  return gateway;
}

async function callTool(who: Caller, args: object): Promise<KeyedAnswer> {
  const body = { toolName: "delete_page", arguments: args };
  return (gateway as KeyedGateway).ask(who, "POST", "/api/v1/execute", body);
}

interface Listed {
  readonly id: string;
  readonly requestedBy: string;
  readonly arguments: object;
}

/** Every call that the approver may approve, page by page. */
async function waiting(who: Caller = "approver"): Promise<readonly Listed[]> {
  const all: Listed[] = [];
  for (let next: string | undefined = ""; next !== undefined;) {
    const path = `/api/v1/approvals${next === "" ? "" : `?cursor=${next}`}`;
    const { status, body } = await (gateway as KeyedGateway).ask(who, "GET", path);
    expect(status).toBe(200);
    all.push(...(body.approvals as Listed[]));
    next = body.next as string | undefined;
  }
  return all;
}

describe("calls that only wait for a person", () => {
  it("do not end a gateway, however large their arguments are", async () => {
    await start();
    for (let sent = 0; sent < TOO_MANY; sent++) {
      const { status, body } = await callTool("guest", { text: `${sent}${LARGE}` });
      expect([status, body.code]).toEqual([403, "PERMISSION_DENIED"]);
      expect(body.detail).toMatch(
        /they are at least 39000\d\d bytes as JSON, and a person is asked to read at most 65536/,
      );
    }
    expect(await waiting()).toEqual([]);
  });

  it("take a bounded room of their caller, and none of anybody else", async () => {
    await start();
    const own = await callTool("guest-a", { text: "short" });
    for (let sent = 0; sent < 250; sent++) await callTool("guest", { text: `${sent}${"x".repeat(60_000)}` });
    const listed = await waiting();
    expect(listed.find(({ requestedBy }) => requestedBy === "guest-a")?.id).toBe(own.body.confirmationId);
    const flood = listed.filter(({ requestedBy }) => requestedBy === "guest");
    expect(flood.length).toBeGreaterThan(30);
    const bytes = flood.reduce((sum, each) => sum + JSON.stringify(each.arguments).length, 0);
    expect(bytes).toBeLessThanOrEqual(2 * 1024 * 1024);
  });

  it("count against their rates", async () => {
    await start(3);
    const codes: string[] = [];
    for (const text of ["one", "two", "two", "three"]) {
      const { body } = await callTool("guest", { text });
      codes.push((body.error?.code ?? body.code) as string);
    }
    expect(codes).toEqual([...Array.from({ length: 3 }, () => "CONFIRMATION_REQUIRED"), "RATE_LIMITED"]);
    expect((await waiting()).map((each) => each.arguments)).toEqual([{ text: "one" }, { text: "two" }]);
  });

  it("of an earlier release do not end a gateway that lists them, however large they are", async () => {
    const state = sqliteState({ file: join(folder, "state.sqlite") });
    const expiresAt = Date.now() + 600_000;
    for (let index = 0; index <= TOO_MANY; index++) {
      const id = index.toString(16).padStart(32, "0");
      const args = { text: index === TOO_MANY ? "short" : LARGE };
      const shown = { id, toolId: "default.delete_page", arguments: args, requestedBy: "guest", reason: "It deletes." };
      const times = { requestedAt: Date.now(), expiresAt };
      const record = { open: true, shown: { ...shown, state: "pending", ...times }, binding: id, contentHash: "x" };
      await state.documents.set(`approval:${id}`, { ...record, local: false, selfApproval: "never" }, { expiresAt });
    }
    await state.close();
    await start();
    const listed = await waiting();
    expect(listed.map((each) => each.arguments)).toEqual([{ text: "short" }]);
    const { status } = await (gateway as KeyedGateway).ask(
      "approver",
      "POST",
      `/api/v1/approvals/${listed[0]?.id}/approve`,
      {},
    );
    expect(status).toBe(200);
    const audit = await (gateway as KeyedGateway).ask(
      "operator",
      "GET",
      "/api/v1/audit?kind=approval&status=expired&limit=100",
    );
    expect(audit.body.records).toHaveLength(TOO_MANY);
  });
});

describe("answers that do not count", () => {
  it("are in the audit log, with who, what and why", async () => {
    const { ask } = await start();
    const asked = await callTool("approver-a", { text: "mine" });
    const id = asked.body.confirmationId as string;
    const answers = [
      await ask("guest", "POST", `/api/v1/approvals/${id}/approve`, {}),
      await ask("approver-a", "POST", `/api/v1/approvals/${id}/approve`, {}),
      await ask("approver", "POST", "/api/v1/approvals/0f4c/deny", {}),
      await ask("approver", "POST", `/api/v1/approvals/${id}/approve`, {}),
      await ask("approver", "POST", `/api/v1/approvals/${id}/approve`, {}),
      await ask("guest", "POST", "/api/v1/pins/some.tool/accept", {}),
      await ask("approver", "POST", "/api/v1/pins/some.tool/accept", {}),
      await ask("guest", "POST", "/api/v1/policy/reload", {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 404, 200, 409, 403, 404, 403]);
    const { body } = await ask("operator", "GET", "/api/v1/audit?limit=100");
    const records = (body.records as Record<string, unknown>[])
      .toReversed()
      .filter(({ kind }) => kind !== "checkpoint");
    expect(records.filter(({ kind }) => kind !== "call")).toMatchObject([
      { kind: "approval", id, outcome: "requested", by: "approver-a" },
      { kind: "operator-action", action: "approveCall", targets: [id], outcome: "denied", by: "guest" },
      { kind: "approval", id, outcome: "refused", because: "own-call", by: "approver-a", tenant: "a" },
      { kind: "approval", id: "0f4c", toolId: "(unknown)", outcome: "refused", because: "unknown", by: "approver" },
      { kind: "approval", id, outcome: "approved", by: "approver" },
      { kind: "approval", id, outcome: "refused", because: "settled", by: "approver" },
      { kind: "operator-action", action: "acceptPin", targets: ["some.tool"], outcome: "denied", by: "guest" },
      { kind: "pin-refused", toolId: "some.tool", because: "nothing-waits", by: "approver" },
      { kind: "operator-action", action: "reloadPolicy", outcome: "denied", by: "guest" },
    ]);
    expect((await ask("operator", "POST", "/api/v1/audit/verify", {})).body).toMatchObject({ ok: true });
  });
});
