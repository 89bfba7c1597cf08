import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CAPABILITIES, type Principal, ToolArsenal, type ToolArsenalConfig } from "../../src/index.ts";
import { bearerToken } from "../../src/adapters/identity/index.ts";
import { type PayServer, startPayServer } from "./pay-server.ts";
import { runInMemory } from "./terminal.ts";

type Era = "legacy" | "modern";
const SURFACES = [
  {
    surface: "aggregate",
    mode: "static",
    path: "/mcp",
    toCall: (args: object) => ({ name: "pay-pay", arguments: args }),
  },
  {
    surface: "meta-tool",
    mode: "dynamic",
    path: "/mcp",
    toCall: (args: object) => ({ name: "execute_tool", arguments: { tool_name: "pay-pay", arguments: args } }),
  },
  {
    surface: "transparent",
    mode: "static",
    path: "/mcp/upstreams/pay",
    toCall: (args: object) => ({ name: "pay", arguments: { ...args } }),
  },
] as const;
const CASES = SURFACES.flatMap((surface) => (["legacy", "modern"] as const).map((era) => ({ ...surface, era })));

const principal = (id: string, ...roles: string[]): Principal => ({
  id,
  roles,
  capabilities: CAPABILITIES,
  scopes: ["*"],
  local: false,
});
const PEOPLE = [principal("agent", "operator", "approver"), principal("ada", "approver"), principal("bob", "approver")];
const tokenOf = (id: string): string => `${id}-has-a-token-of-its-own`;
const identity = bearerToken({ tokens: PEOPLE.map((person) => ({ token: tokenOf(person.id), principal: person })) });

let folder: string;
let upstream: PayServer;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolarsenal-approvals-"));
  upstream = await startPayServer();
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  await upstream.close();
  await rm(folder, { recursive: true });
});

interface Gateway {
  readonly url: string;
  close(): Promise<void>;
}

/** A gateway whose state is a file, so that another process may share it and the next one finds it. */
async function start(mode: "static" | "dynamic" = "static", config: ToolArsenalConfig = {}): Promise<Gateway> {
  const arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    state: { file: join(folder, "state.sqlite") },
    ...config,
    security: { requireConfirmation: ["pay"], ...config.security },
  });
  await arsenal.addMcpServer({ name: "pay", transport: { kind: "http", url: upstream.url } });
  const served = await arsenal.serve({ port: 0, mode, identity });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await served.close();
      await arsenal.close();
    })());
  closers.push(close);
  return { url: served.url ?? "", close };
}

async function connect(era: Era, url: string, id = "agent"): Promise<Client> {
  const client = new Client(
    { name: id, version: "1.0.0" },
    era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {},
  );
  const requestInit = { headers: { authorization: `Bearer ${tokenOf(id)}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  closers.push(() => client.close());
  return client;
}

const confirmed = (confirmationId: string) => ({ _meta: { "toolarsenal/confirmationId": confirmationId } });

/** How a call ended, as a client reads it. */
function ending(result: unknown): unknown {
  const { isError, content, _meta } = result as {
    isError?: boolean;
    content: { text: string }[];
    _meta?: Record<string, { status: string; confirmationId?: string }>;
  };
  return isError === true ? _meta?.["toolarsenal/error"] : content[0]?.text;
}

async function waits(client: Client, call: { name: string; arguments: Record<string, unknown> }): Promise<string> {
  const { status, confirmationId } = ending(await client.callTool(call)) as { status: string; confirmationId: string };
  expect(status).toBe("pending_confirmation");
  return confirmationId;
}

async function answer(url: string, id: string, verdict: "approve" | "deny", by = "ada"): Promise<number> {
  const headers = { authorization: `Bearer ${tokenOf(by)}`, "content-type": "application/json" };
  const response = await fetch(`${url}/api/v1/approvals/${id}/${verdict}`, { method: "POST", headers, body: "{}" });
  await response.body?.cancel();
  return response.status;
}

const refused = { status: "permission_denied", code: "APPROVAL_INVALID" };

describe.each(CASES)("an approval over HTTP, for a $era client of the $surface", ({ mode, path, toCall, era }) => {
  it("is for exactly the arguments that were shown, and for one run", async () => {
    const { url } = await start(mode);
    const client = await connect(era, url + path);
    const id = await waits(client, toCall({ amount: 5 }));
    expect(await answer(url, id, "approve")).toBe(200);

    expect(ending(await client.callTool({ ...toCall({ amount: 500 }), ...confirmed(id) }))).toMatchObject(refused);
    expect(upstream.paid).toEqual([]);
    expect(ending(await client.callTool({ ...toCall({ amount: 5 }), ...confirmed(id) }))).toBe("paid 5");
    expect(ending(await client.callTool({ ...toCall({ amount: 5 }), ...confirmed(id) }))).toMatchObject(refused);
    expect(upstream.paid).toEqual([5]);
    expect(JSON.stringify(upstream.metas)).not.toContain("confirmationId");
  });

  it("lets the call run that is simply made again, once", async () => {
    const { url } = await start(mode);
    const client = await connect(era, url + path);
    const id = await waits(client, toCall({ amount: 5 }));
    expect(await waits(client, toCall({ amount: 5 }))).toBe(id);
    expect(await answer(url, id, "approve")).toBe(200);
    expect(ending(await client.callTool(toCall({ amount: 5 })))).toBe("paid 5");
    expect(await waits(client, toCall({ amount: 5 }))).not.toBe(id);
    expect(upstream.paid).toEqual([5]);
  });

  it("is not the requester's to give", async () => {
    const { url } = await start(mode, { security: { selfApproval: "local" } });
    const client = await connect(era, url + path);
    const id = await waits(client, toCall({ amount: 5 }));
    expect(await answer(url, id, "approve", "agent")).toBe(403);
    expect(ending(await client.callTool({ ...toCall({ amount: 5 }), ...confirmed(id) }))).toMatchObject({
      status: "pending_confirmation",
    });
    expect(upstream.paid).toEqual([]);
  });

  it("is refused as any wrong call is where it is no text", async () => {
    const { url } = await start(mode);
    const client = await connect(era, url + path);
    const call = { ...toCall({ amount: 5 }), _meta: { "toolarsenal/confirmationId": 5 } };
    expect(ending(await client.callTool(call))).toMatchObject({ code: "CALL_INVALID" });
  });
});

describe("an approval", () => {
  const call = { name: "pay-pay", arguments: { amount: 5 } };

  it("that two people and the command line give at once is one approval, and of ten calls with it one runs", async () => {
    const { url } = await start();
    await writeFile(join(folder, "arsenal.yaml"), "state: { file: ./state.sqlite }\n");
    const client = await connect("modern", `${url}/mcp`);
    const id = await waits(client, call);
    const [ada, bob, operator] = await Promise.all([
      answer(url, id, "approve"),
      answer(url, id, "approve", "bob"),
      runInMemory(["approvals", "approve", id], { folder }),
    ]);
    const won = [ada === 200, bob === 200, operator.code === 0];
    expect(won.filter(Boolean)).toHaveLength(1);
    const others = [won[0] ? 409 : ada, won[1] ? 409 : bob, won[2] ? 1 : operator.code];
    expect(others).toEqual([409, 409, 1]);

    const endings = await Promise.all(
      Array.from({ length: 10 }, async () => ending(await client.callTool({ ...call, ...confirmed(id) }))),
    );
    expect(endings.filter((end) => end === "paid 5")).toHaveLength(1);
    expect(upstream.paid).toEqual([5]);
  });

  it("that one approves and one denies has one answer", async () => {
    const { url } = await start();
    const client = await connect("legacy", `${url}/mcp`);
    const id = await waits(client, call);
    const [ada, bob] = await Promise.all([answer(url, id, "approve"), answer(url, id, "deny", "bob")]);
    expect([ada, bob].sort()).toEqual([200, 409]);
    const end = ending(await client.callTool({ ...call, ...confirmed(id) }));
    expect(upstream.paid).toEqual(ada === 200 ? [5] : []);
    if (ada !== 200) expect(end).toMatchObject(refused);
  });

  it("outlives restarts, before it is given and after [000-6.2-approval-survives]", async () => {
    const first = await start();
    const id = await waits(await connect("modern", `${first.url}/mcp`), call);
    await first.close();
    const second = await start();
    expect(await answer(second.url, id, "approve")).toBe(200);
    await second.close();
    const third = await start();
    const client = await connect("modern", `${third.url}/mcp`);
    expect(ending(await client.callTool({ ...call, ...confirmed(id) }))).toBe("paid 5");
    await third.close();
    const fourth = await start();
    const again = await connect("modern", `${fourth.url}/mcp`);
    expect(ending(await again.callTool({ ...call, ...confirmed(id) }))).toMatchObject(refused);
    expect(upstream.paid).toEqual([5]);
  });

  it("that was denied runs nothing", async () => {
    const { url } = await start();
    const client = await connect("modern", `${url}/mcp`);
    const id = await waits(client, call);
    expect(await answer(url, id, "deny")).toBe(200);
    expect(ending(await client.callTool({ ...call, ...confirmed(id) }))).toMatchObject(refused);
    expect(upstream.paid).toEqual([]);
  });

  it("is one caller's own", async () => {
    const { url } = await start();
    const id = await waits(await connect("modern", `${url}/mcp`), call);
    expect(await answer(url, id, "approve")).toBe(200);
    const bob = await connect("modern", `${url}/mcp`, "bob");
    expect(ending(await bob.callTool({ ...call, ...confirmed(id) }))).toMatchObject(refused);
    expect(upstream.paid).toEqual([]);
  });
});

describe("a webhook", () => {
  const SECRET = "0123456789abcdef0123456789abcdef";

  /** A receiver of one request, which checks the signature as its owner would. */
  async function receiver(): Promise<{ url: string; told: Promise<{ id: string; arguments: unknown }> }> {
    const told = Promise.withResolvers<{ id: string; arguments: unknown }>();
    const server = createServer(async (request, response) => {
      const body = await text(request);
      const { "x-toolarsenal-timestamp": timestamp, "x-toolarsenal-signature": signature } = request.headers;
      response.writeHead(204).end();
      const age = Date.now() / 1_000 - Number(timestamp);
      const expected = `sha256=${createHmac("sha256", SECRET)
        .update(`${String(timestamp)}.${body}`)
        .digest("hex")}`;
      if (signature === expected && age < 60) told.resolve(JSON.parse(body) as { id: string; arguments: unknown });
      else told.reject(new Error(`unsigned: ${body}`));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    closers.push(async () => (server.closeAllConnections(), server.close()));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, told: told.promise };
  }

  it.each([
    ["shape", { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, shape: { amount: "number" } }],
    ["full", { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, value: { amount: 5 } }],
  ] as const)("is told of a call, its arguments in %s, and its owner answers over HTTP", async (kept, shown) => {
    const { url: hook, told } = await receiver();
    const { url } = await start("static", {
      audit: { arguments: kept },
      security: { approvalWebhook: { url: hook, secret: SECRET }, allowedDomains: ["example.com"] },
    });
    const client = await connect("modern", `${url}/mcp`);
    const id = await waits(client, { name: "pay-pay", arguments: { amount: 5 } });
    expect(await told).toMatchObject({ id, toolId: "pay.pay", requestedBy: "agent", arguments: shown });
    expect(await answer(url, id, "approve")).toBe(200);
    expect(ending(await client.callTool({ name: "pay-pay", arguments: { amount: 5 } }))).toBe("paid 5");
  });

  it("has a secret that the configuration need not hold", async () => {
    const { url: hook, told } = await receiver();
    const arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      security: { approvalWebhook: { url: hook, secret: "env:HOOK_SECRET" } },
      environment: { HOOK_SECRET: SECRET },
    });
    closers.push(() => arsenal.close());
    await arsenal.addTool(
      { name: "delete_all", description: "Deletes everything there is.", parameters: { type: "object" } },
      () => "deleted",
    );
    const { confirmationId } = await arsenal.execute({ toolName: "delete_all" });
    expect(await told).toMatchObject({ id: confirmationId, requestedBy: "local" });
  });

  it.each(["short", "0123456789abcdef0123456789abcde"])("refuses the secret %s at the start", (secret) => {
    const security = { approvalWebhook: { url: "https://approvals.example", secret } };
    expect(() => new ToolArsenal({ security })).toThrow("Use at least 32 characters.");
  });

  it.each(["approvals.example", "ftp://approvals.example", "file:///etc/passwd"])(
    "refuses the address %s at the start",
    (url) => {
      expect(() => new ToolArsenal({ security: { approvalWebhook: { url } } })).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: "security.approval_webhook.url is not a valid address of a webhook. Write it as https://host/path.",
          details: { field: "security.approval_webhook.url", fix: "Write it as https://host/path." },
        }),
      );
    },
  );
});
