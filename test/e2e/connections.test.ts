import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ToolArsenal } from "../../src/arsenal.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";
import { type Caller as Name, type GatewayPair, startPair, TOKENS } from "./gateway-pair.ts";
import { type ProtectedServer, startProtectedServer } from "./protected-server.ts";

const folder = mkdtempSync(join(tmpdir(), "toolarsenal-connections-"));
/** Two gateways on one state, in front of a server that people sign in to. */
let protectedServer: ProtectedServer;
let a: ServedGateway;
let b: ServedGateway;
let pair: GatewayPair;
const events: unknown[] = [];

beforeAll(async () => {
  protectedServer = await startProtectedServer();
  pair = await startPair(async () => {
    const arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      audit: { file: join(folder, "audit.jsonl") },
      state: { file: join(folder, "state.sqlite") },
      security: { maxRequestsPerMinute: 10_000, sealKey: "a secret that only this test knows" },
      mcp: {
        servers: [
          {
            name: "notes",
            url: protectedServer.url,
            oauth: {
              account: "user",
              scope: "read write",
              issuer: protectedServer.issuer,
              tokenFile: join(folder, "tokens.json"),
            },
          },
        ],
      },
    } as never);
    arsenal.subscribe((event) => void events.push(event));
    await arsenal.start();
    return arsenal;
  });
  ({ a, b } = pair);
});

afterAll(async () => {
  await pair.close();
  await protectedServer.close();
  rmSync(folder, { recursive: true, force: true });
});

function rest({ url }: ServedGateway, who: Name, path: string, method = "GET", body?: unknown): Promise<Response> {
  return fetch(new URL(`/api/v1${path}`, url), {
    method,
    headers: { authorization: `Bearer ${TOKENS[who]}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

interface Called {
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string };
}

const call = async (at: ServedGateway, who: Name): Promise<Called> =>
  (await (await rest(at, who, "/execute", "POST", { toolName: "notes.note", arguments: {} })).json()) as Called;
/** The status of a call, or the code of its error. */
const outcome = async (at: ServedGateway, who: Name): Promise<string> => {
  const { status, error } = await call(at, who);
  return error?.code ?? status;
};

/** Signs in as a browser does: starts at one gateway, visits the authorization server and comes back, with or without its cookie. */
async function signIn(at: ServedGateway, who: Name, { cookies = true, back = at } = {}): Promise<string> {
  const started = await rest(at, who, "/connections/notes/sign-in", "POST");
  const { url } = (await started.json()) as { url: string };
  const cookie = started.headers.get("set-cookie")?.split(";")[0] ?? "";
  const consent = await fetch(url, { redirect: "manual" });
  const answer = new URL(consent.headers.get("location") ?? "");
  const callback = new URL(answer.pathname + answer.search, back.url);
  const page = await fetch(callback, { redirect: "manual", headers: cookies ? { cookie } : {} });
  return page.headers.get("location") ?? "";
}

const tokenUpstream = (): string | undefined => protectedServer.lastHeaders.authorization;

describe("a server that callers sign in to themselves", () => {
  it("refuses a caller who has not signed in, and says where to", async () => {
    expect(await (await rest(a, "ann", "/connections")).json()).toEqual({
      connections: [{ server: "notes", url: protectedServer.url, signedIn: false, hasFallback: false }],
    });
  });

  it("does not end a sign-in in a browser that did not start it, or twice", async () => {
    expect(await signIn(a, "ann", { cookies: false })).toContain(
      "problem=This+sign-in+was+not+started+in+this+browser",
    );
    expect(await (await rest(a, "ann", "/connections")).json()).toMatchObject({ connections: [{ signedIn: false }] });
  });

  it("gets each caller's own token from every process, whichever the person came back to", async () => {
    expect(await signIn(a, "ann", { back: b })).toBe("/ui/connections?signed-in=notes");
    await expect.poll(() => outcome(a, "ann")).toBe("success");
    const ofAnn = tokenUpstream();
    expect(await outcome(b, "ann")).toBe("success");
    expect(tokenUpstream()).toBe(ofAnn);
    expect((await call(b, "bob")).error).toMatchObject({
      code: "SIGN_IN_REQUIRED",
      message: expect.stringContaining('"bob" is not signed in to "notes".') as string,
    });
    expect(await signIn(b, "bob")).toBe("/ui/connections?signed-in=notes");
    expect(await outcome(a, "bob")).toBe("success");
    expect(tokenUpstream()).not.toBe(ofAnn);
  });

  it("renews each person's expired token once if two processes need it at the same time", async () => {
    protectedServer.expireTokens();
    const before = protectedServer.requestsTo("/token").length;
    const all = await Promise.all([call(a, "ann"), call(b, "ann"), call(a, "ann"), call(b, "ann")]);
    expect(all.map(({ status }) => status)).toEqual(["success", "success", "success", "success"]);
    const renewals = protectedServer.requestsTo("/token").slice(before);
    expect(renewals.length).toBeGreaterThan(0);
    expect(renewals.every(({ params }) => params["grant_type"] === "refresh_token")).toBe(true);
    // Each person has a registered client of its own. The gateway may renew Bob's token too, for its list of tools.
    const people = renewals.map(({ params }) => params["client_id"]);
    expect(new Set(people).size).toBe(people.length);
  });

  it("stops a signed-out caller's calls in every process within a second, and nobody else's", async () => {
    expect(await (await rest(a, "ann", "/connections/notes", "DELETE")).json()).toEqual({ signedOut: true });
    await expect.poll(() => outcome(b, "ann"), { timeout: 1_000 }).toBe("SIGN_IN_REQUIRED");
    expect(await outcome(a, "ann")).toBe("SIGN_IN_REQUIRED");
    expect(await outcome(b, "bob")).toBe("success");
  });

  it.each(["legacy", "modern"] as const)(
    "asks the person at a %s client to sign in, then makes the call",
    async (era) => {
      await rest(a, "bob", "/connections/notes", "DELETE");
      await expect.poll(() => outcome(b, "bob")).toBe("SIGN_IN_REQUIRED");
      const asked: Record<string, unknown>[] = [];
      const options = era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } as const } : {};
      const client = new Client(
        { name: "person", version: "1" },
        { capabilities: { elicitation: { url: {} } }, ...options },
      );
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params as never);
        await signIn(a, "bob");
        return { action: "accept" };
      });
      const requestInit = { headers: { authorization: `Bearer ${TOKENS.bob}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", b.url), { requestInit }));
      const result = await client.callTool({ name: "notes-note", arguments: {} });
      expect(result.content).toEqual([{ type: "text", text: "noted" }]);
      expect(asked).toMatchObject([{ mode: "url", url: new URL("/ui/connections?server=notes", b.url).href }]);
      await client.close();
    },
  );

  it("records who signed in and out, and of which server", async () => {
    const { records } = (await (await rest(b, "bob", "/audit?kind=connection")).json()) as { records: object[] };
    const ofNotes = { kind: "connection", targets: ["notes"] };
    expect(records.toReversed().slice(0, 4)).toMatchObject([
      { ...ofNotes, outcome: "signed-in", principal: "ann" },
      { ...ofNotes, outcome: "signed-in", principal: "bob" },
      { ...ofNotes, outcome: "signed-out", principal: "ann" },
      { ...ofNotes, outcome: "signed-out", principal: "bob" },
    ]);
    const members = ["at", "kind", "outcome", "principal", "seq", "targets"];
    expect(Object.keys(records[0] ?? {}).toSorted()).toEqual(members);
  });

  it("shows no token in the state, the audit log, events or answers", async () => {
    const seen = [
      readFileSync(join(folder, "state.sqlite"), "latin1"),
      readFileSync(join(folder, "audit.jsonl"), "utf8"),
      JSON.stringify(events),
      await (await rest(a, "bob", "/connections")).text(),
    ];
    expect(protectedServer.secrets.length).toBeGreaterThan(4);
    for (const text of seen) for (const secret of protectedServer.secrets) expect(text.includes(secret)).toBe(false);
  });
});
