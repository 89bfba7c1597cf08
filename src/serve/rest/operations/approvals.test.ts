import { afterEach, describe, expect, it } from "vitest";
import { bearerToken } from "../../../adapters/identity/bearer-token.ts";
import { memoryState } from "../../../adapters/state/memory.ts";
import { type ApprovalBook, createApprovals } from "../../../guard/approvals/approvals.ts";
import type { Emit } from "../../../observe/events.ts";
import { localOperator, type Principal } from "../../../guard/principal.ts";
import { createManualClock, type ManualClock } from "../../../testing/manual-clock.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import { createHttpServer, type HttpServer } from "../../http/http-server.ts";
import { createReplica } from "../../replica.ts";
import { STARTED } from "../../startup.ts";
import type { Surface, SurfaceContext } from "../../surface.ts";
import { createWork } from "../../work.ts";
import { restSurface } from "../surface.ts";

const pay = defineTool({ name: "pay", description: "Pays an amount to somebody.", parameters: {}, createdAt: 0 });

const person = (id: string, more: Partial<Principal> = {}): Principal =>
  localOperator({ id, roles: ["approver"], local: false, ...more });
const PEOPLE = {
  ada: person("ada"),
  bob: person("bob", { tenant: "north" }),
  cleo: person("cleo", { tenant: "south" }),
  guest: person("guest", { roles: ["operator"] }),
} as const;
type Name = keyof typeof PEOPLE;

const tokenOf = (name: Name): string => `${name}-has-a-token-of-its-own`;
const identity = bearerToken({
  tokens: Object.entries(PEOPLE).map(([name, principal]) => ({ token: tokenOf(name as Name), principal })),
});

let server: HttpServer;
let clock: ManualClock;
let book: ApprovalBook;
let surface: Surface;
let told: unknown[];

async function serve(): Promise<void> {
  clock = createManualClock(1_000_000);
  const settings = { confirmationTimeoutS: 600, selfApproval: "never" } as const;
  told = [];
  const state = memoryState({ clock });
  const emit: Emit = (name, data) => void told.push([name, data]);
  book = createApprovals({ state: state.documents, clock, emit, settings });
  const context: Partial<SurfaceContext> = {
    arsenal: { approvals: book } as unknown as SurfaceContext["arsenal"],
    replica: await createReplica(state),
    startup: STARTED,
    work: createWork(),
    redactor: createSecrets().redactor,
  };
  surface = restSurface(context as SurfaceContext, clock);
  server = await createHttpServer({ port: 0, identity, routes: surface.routes });
}

afterEach(async () => {
  await surface.close?.();
  await server.close();
});

/** A call of somebody that waits. */
async function waits(by: Principal, args: Readonly<Record<string, unknown>> = { amount: 5 }): Promise<string> {
  return (await book.request({ tool: pay, arguments: args, principal: by }, "Somebody must look.")).id;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly text: string;
}

async function send(name: Name, path: string, init: RequestInit = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${tokenOf(name)}`, ...(init.headers as Record<string, string>) };
  const response = await fetch(`${server.url}/api/v1/approvals${path}`, { ...init, headers });
  const text = await response.text();
  return { status: response.status, text, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

const JSON_TYPE = { "content-type": "application/json" };
const post = (name: Name, path: string, init: RequestInit = {}): Promise<Answer> =>
  send(name, path, { method: "POST", headers: JSON_TYPE, body: "{}", ...init });

const problem = (status: number, fix: string, code = "APPROVAL_INVALID"): unknown => ({
  status,
  body: { status, code, detail: expect.any(String) as string, fix: expect.stringContaining(fix) as string },
});

describe("GET /api/v1/approvals?decided=10", () => {
  it("lists what approvers answered, by whom and why, to those of the same tenant", async () => {
    await serve();
    const call = { tool: pay, arguments: { amount: 5 }, principal: PEOPLE.guest, traceId: "a".repeat(32) };
    const { id } = await book.request(call, "Somebody must look.");
    const body = JSON.stringify({ note: " Checked by phone. " });
    expect((await post("ada", `/${id}/approve`, { body })).status).toBe(200);
    await clock.advance(1_000);
    const denied = await waits(person("ned", { tenant: "north" }));
    await book.deny(denied, PEOPLE.bob);
    // A caller who withdraws a call decides nothing.
    await book.deny(await waits(PEOPLE.guest, { amount: 6 }), PEOPLE.guest);
    const decidedFor = async (name: Name): Promise<unknown> =>
      ((await send(name, "?decided=10")).body as { readonly decided: unknown }).decided;
    expect(await decidedFor("ada")).toMatchObject([
      { id: denied, outcome: "denied", decidedBy: "bob", requestedBy: "ned", decidedAt: 1_001_000 },
      { id, outcome: "approved", decidedBy: "ada", note: "Checked by phone.", traceId: "a".repeat(32) },
    ]);
    expect(await decidedFor("bob")).toMatchObject([{ id: denied }]);
    expect(await decidedFor("cleo")).toEqual([]);
    expect(told).toContainEqual([
      "confirmation-resolved",
      { id, toolId: "default.pay", outcome: "approved", by: "ada", note: "Checked by phone." },
    ]);
    expect((await send("ada", "")).body).toEqual({ approvals: [] });
    await clock.advance(86_400_000);
    expect(await decidedFor("ada")).toEqual([]);
  });
});

describe("GET /api/v1/approvals", () => {
  it("lists what the caller may approve, as the command line does", async () => {
    await serve();
    const id = await waits(PEOPLE.guest);
    expect(await send("ada", "")).toMatchObject({
      status: 200,
      body: {
        approvals: [
          {
            id,
            toolId: "default.pay",
            arguments: { amount: 5 },
            requestedBy: "guest",
            reason: "Somebody must look.",
            state: "pending",
            requestedAt: 1_000_000,
            expiresAt: 1_600_000,
          },
        ],
      },
    });
  });

  it("leaves out the caller's own calls, other tenants' and those that were answered", async () => {
    await serve();
    const own = await waits(PEOPLE.bob, { amount: 1 });
    const north = await waits(person("nora", { tenant: "north" }), { amount: 2 });
    const south = await waits(person("sam", { tenant: "south" }), { amount: 3 });
    const answered = await waits(PEOPLE.guest, { amount: 4 });
    await book.approve(answered, PEOPLE.ada);
    const listed = async (name: Name): Promise<readonly string[]> =>
      ((await send(name, "")).body as { approvals: { id: string }[] }).approvals.map(({ id }) => id);
    expect(await listed("bob")).toEqual([north]);
    expect(await listed("cleo")).toEqual([south]);
    expect(await listed("ada")).toEqual([own, north, south]);
  });

  it("shows what hides in the arguments, and says the same to a program", async () => {
    await serve();
    await waits(PEOPLE.guest, { to: "dana\u202Enimda" });
    const { text, body } = await send("ada", "");
    expect(text).toContain(String.raw`"dana\u202enimda"`);
    expect(body).toMatchObject({ approvals: [{ arguments: { to: "dana\u202Enimda" } }] });
  });

  it("is for approvers, and for reading", async () => {
    await serve();
    expect(await send("guest", "")).toMatchObject(problem(403, "approver", "PERMISSION_DENIED") as object);
    expect(await post("ada", "")).toMatchObject(problem(405, "GET", "INPUT_INVALID") as object);
    expect((await fetch(`${server.url}/api/v1/approvals`)).status).toBe(401);
  });
});

describe("GET /api/v1/approvals/ID", () => {
  it("shows one call that the caller may approve, and answers 404 for any other", async () => {
    await serve();
    const id = await waits(PEOPLE.bob);
    expect(await send("ada", `/${id}`)).toMatchObject({ status: 200, body: { id, arguments: { amount: 5 } } });
    for (const [name, path] of [
      ["cleo", id],
      ["bob", id],
      ["ada", "nothing"],
    ] as const)
      expect(await send(name, `/${path}`)).toMatchObject(problem(404, "List the approvals") as object);
    expect(await send("guest", `/${id}`)).toMatchObject(problem(403, "approver", "PERMISSION_DENIED") as object);
    expect(await post("ada", `/${id}`)).toMatchObject(problem(405, "GET", "INPUT_INVALID") as object);
  });
});

describe("POST /api/v1/approvals/ID/approve and /deny", () => {
  it("approves, so that the very call runs once", async () => {
    await serve();
    const id = await waits(PEOPLE.guest);
    expect(await post("ada", `/${id}/approve`)).toMatchObject({ status: 200, body: { id, outcome: "approved" } });
    const call = { tool: pay, arguments: { amount: 5 }, principal: PEOPLE.guest };
    expect(await book.redeem(id, { ...call, arguments: { amount: 6 } })).toMatchObject({ state: "invalid" });
    expect(await book.redeem(id, call)).toEqual({ state: "approved" });
    expect(await book.redeem(id, call)).toMatchObject({ state: "invalid" });
  });

  it("denies", async () => {
    await serve();
    const id = await waits(PEOPLE.guest);
    expect(await post("ada", `/${id}/deny`)).toMatchObject({ status: 200, body: { id, outcome: "denied" } });
    expect(await book.list()).toEqual([]);
  });

  it("answers 403 to who lacks the role, whether the id exists or not", async () => {
    await serve();
    const id = await waits(PEOPLE.ada);
    for (const path of [`/${id}/approve`, `/${id}/deny`, "/nothing/approve", "/nothing/deny"])
      expect(await post("guest", path)).toMatchObject(problem(403, "approver", "PERMISSION_DENIED") as object);
  });

  it("answers 403 to who asked, who may still withdraw", async () => {
    await serve();
    const id = await waits(PEOPLE.ada);
    expect(await post("ada", `/${id}/approve`)).toMatchObject(problem(403, "another approver") as object);
    expect(await book.get(id)).toMatchObject({ state: "pending" });
    expect(await post("ada", `/${id}/deny`)).toMatchObject({ status: 200 });
  });

  it("answers 404 alike for an id that never was and for another tenant's, open or settled", async () => {
    await serve();
    const open = await waits(PEOPLE.bob, { amount: 1 });
    const settled = await waits(PEOPLE.bob, { amount: 2 });
    await book.deny(settled, PEOPLE.ada);
    const answers = await Promise.all(
      ["nothing", open, settled].map(async (id) => {
        const { text, body } = await post("cleo", `/${id}/approve`);
        return text.replaceAll(id, "ID").replace((body as { requestId: string }).requestId, "");
      }),
    );
    expect(new Set(answers).size).toBe(1);
    expect(await post("cleo", `/${open}/deny`)).toMatchObject(problem(404, "List the approvals") as object);
    expect(await book.get(open)).toMatchObject({ state: "pending" });
  });

  it("answers 409 for what was approved, denied, used or has expired", async () => {
    await serve();
    const approved = await waits(PEOPLE.guest, { amount: 1 });
    const denied = await waits(PEOPLE.guest, { amount: 2 });
    const late = await waits(PEOPLE.guest, { amount: 3 });
    await book.approve(approved, PEOPLE.ada);
    await book.deny(denied, PEOPLE.ada);
    expect(await post("ada", `/${approved}/approve`)).toMatchObject(problem(409, "List the approvals") as object);
    expect(await post("ada", `/${denied}/deny`)).toMatchObject(problem(409, "List the approvals") as object);
    await clock.advance(600_000);
    expect(await post("ada", `/${late}/approve`)).toMatchObject(problem(409, "List the approvals") as object);
  });

  it("lets one of two approvers who answer at once win", async () => {
    await serve();
    const id = await waits(PEOPLE.guest);
    const both = await Promise.all([post("ada", `/${id}/approve`), post("ada", `/${id}/deny`)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it.each([
    [405, { method: "GET", body: null }],
    [405, { method: "PUT" }],
    [415, { headers: { "content-type": "text/plain" } }],
    [415, { headers: { "content-type": "application/x-www-form-urlencoded" } }],
    [400, { body: "yes" }],
    [400, { body: "[]" }],
    [400, { body: '{"arguments":{"amount":6}}' }],
    [413, { body: JSON.stringify("x".repeat(10_000)) }],
  ] as const)("answers %d and approves nothing for %j", async (status, init) => {
    await serve();
    const id = await waits(PEOPLE.guest);
    expect(await post("ada", `/${id}/approve`, init)).toMatchObject(problem(status, "", "INPUT_INVALID") as object);
    expect(await book.get(id)).toMatchObject({ state: "pending" });
  });

  it("takes an empty body, too", async () => {
    await serve();
    const id = await waits(PEOPLE.guest);
    expect(await post("ada", `/${id}/approve`, { body: "" })).toMatchObject({ status: 200 });
  });

  it.each(["/", "/ID/", "/ID/maybe", "/ID/approve/now"])("has nothing at %s", async (path) => {
    await serve();
    expect(await post("ada", path)).toMatchObject(problem(404, "openapi.json", "INPUT_INVALID") as object);
  });
});

describe("approvals that nobody answers", () => {
  it("expire within a minute of their time, though nobody looks", async () => {
    await serve();
    const id = await waits(PEOPLE.guest);
    await clock.advance(599_999);
    told = [];
    await clock.advance(60_001);
    expect(told).toEqual([["confirmation-resolved", { id, toolId: pay.id, outcome: "expired" }]]);
  });
});
