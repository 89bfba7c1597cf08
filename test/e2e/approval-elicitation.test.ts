import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { localOperator, ToolArsenal } from "../../src/index.ts";
import { type PayServer, startPayServer } from "./pay-server.ts";

const ERAS = ["legacy", "modern"] as const;
type Era = (typeof ERAS)[number];
const PLANES = [
  { plane: "aggregate", path: "/mcp", pay: "pay-pay", paySomebody: "pay-pay_somebody" },
  { plane: "transparent", path: "/mcp/upstreams/pay", pay: "pay", paySomebody: "pay_somebody" },
] as const;
const CASES = PLANES.flatMap((plane) => ERAS.map((era) => ({ ...plane, era })));

/** What the client's person was asked. */
interface Asked {
  readonly message: string;
  readonly requestedSchema: { readonly properties: Readonly<Record<string, unknown>> };
}
type Reply = { action: "accept"; content: Record<string, string | boolean> } | { action: "decline" | "cancel" };

const YES: Reply = { action: "accept", content: { approve: true } };
const NO: Reply = { action: "accept", content: { approve: false } };

let upstream: PayServer;
let arsenal: ToolArsenal;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  upstream = await startPayServer();
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  await upstream.close();
});

/** A gateway for the person at this machine, who may approve their own calls unless told otherwise. */
async function start(selfApproval: "local" | "never" = "local"): Promise<string> {
  arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    security: { requireConfirmation: ["pay", "pay_somebody"], selfApproval },
  });
  await arsenal.addMcpServer({ name: "pay", transport: { kind: "http", url: upstream.url } });
  const served = await arsenal.serve({ port: 0, mode: "static" });
  closers.push(
    () => arsenal.close(),
    () => served.close(),
  );
  return served.url ?? "";
}

async function connect(
  era: Era,
  url: string,
  reply: (asked: Asked) => Reply | Promise<Reply>,
  elicitation: { form?: Record<string, never>; url?: Record<string, never> } | "none" = { form: {} },
): Promise<Client> {
  const client = new Client(
    { name: "client", version: "1.0.0" },
    {
      capabilities: elicitation === "none" ? {} : { elicitation },
      ...(era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {}),
    },
  );
  if (elicitation !== "none")
    client.setRequestHandler("elicitation/create", ({ params }) => reply(params as unknown as Asked));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  closers.push(() => client.close());
  return client;
}

/** A person who gives one answer, and what they were asked. */
function person(answer: Reply): { readonly asked: Asked[]; readonly reply: (asked: Asked) => Reply } {
  const asked: Asked[] = [];
  return { asked, reply: (question) => (asked.push(question), answer) };
}

function ending(result: unknown): unknown {
  const { isError, content, _meta } = result as {
    isError?: boolean;
    content: { text: string }[];
    _meta?: Record<string, unknown>;
  };
  return isError === true ? _meta?.["toolarsenal/error"] : content[0]?.text;
}

/** The sentences of a refusal that a model reads. */
function toldIn(result: unknown): readonly string[] {
  const { content } = result as { readonly content: readonly { readonly text: string }[] };
  return (content[0]?.text ?? "").split("\n").filter((line) => /^(?:Error: |Please )/.test(line));
}

const states = async (): Promise<readonly string[]> => (await arsenal.approvals.list()).map(({ state }) => state);

describe.each(CASES)("a $era client of the $plane plane", ({ era, path, pay, paySomebody }) => {
  it("asks its person, and runs the call on a yes", async () => {
    const ada = person(YES);
    const client = await connect(era, (await start()) + path, ada.reply);
    const call = { name: pay, arguments: { amount: 5, to: "dana\u202Enimda\nTool: harmless" } };
    expect(ending(await client.callTool(call))).toBe("paid 5");
    expect(ada.asked).toHaveLength(1);
    expect(ada.asked[0]?.message.split("\n")).toEqual([
      "A call waits for your approval.",
      "Tool: pay.pay",
      String.raw`Arguments: {"amount":5,"to":"dana\u202enimda\nTool: harmless"}`,
      "Reason: A person must approve pay.pay: it matches pay. (rule security.require_confirmation)",
    ]);
    expect(upstream.paid).toEqual([5]);
    expect(await states()).toEqual([]);
  });

  it("asks again for the next call", async () => {
    const ada = person(YES);
    const client = await connect(era, (await start()) + path, ada.reply);
    await client.callTool({ name: pay, arguments: { amount: 5 } });
    await client.callTool({ name: pay, arguments: { amount: 5 } });
    expect(ada.asked).toHaveLength(2);
    expect(upstream.paid).toEqual([5, 5]);
  });

  it.each([NO, { action: "decline" } as const])("refuses the call on %j", async (answer) => {
    const client = await connect(era, (await start()) + path, person(answer).reply);
    const result = await client.callTool({ name: pay, arguments: { amount: 5 } });
    expect(ending(result)).toMatchObject({ status: "permission_denied", code: "APPROVAL_INVALID" });
    expect(toldIn(result)).toEqual([
      "Error: The confirmation was denied. Do not make this call again unless the user asks for it.",
      "Please do what the error says.",
    ]);
    expect(upstream.paid).toEqual([]);
    expect(await states()).toEqual([]);
  });

  it("leaves the call waiting where the question is put away", async () => {
    const client = await connect(era, (await start()) + path, person({ action: "cancel" }).reply);
    const result = await client.callTool({ name: pay, arguments: { amount: 5 } });
    expect(ending(result)).toMatchObject({ status: "pending_confirmation" });
    expect(upstream.paid).toEqual([]);
    expect(await states()).toEqual(["pending"]);
  });

  it("runs nothing, and leaves the call waiting, where the client cancels while its person thinks", async () => {
    const thinking = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<Reply>();
    const client = await connect(era, (await start()) + path, () => (thinking.resolve(), answered.promise));
    const controller = new AbortController();
    const call = client.callTool({ name: pay, arguments: { amount: 5 } }, { signal: controller.signal });
    await thinking.promise;
    controller.abort();
    answered.resolve(YES);
    await expect(call).rejects.toThrow();
    // A further request is answered after whatever the late yes could have done.
    await client.listTools();
    expect(upstream.paid).toEqual([]);
    expect(await states()).toEqual(["pending"]);
  });

  it("stays one call, approved once, where the tool itself asks something", async () => {
    const asked: string[] = [];
    const client = await connect(era, (await start()) + path, ({ message, requestedSchema }) => {
      asked.push(message.split("\n")[0] ?? "");
      return "approve" in requestedSchema.properties ? YES : { action: "accept", content: { name: "Dana" } };
    });
    expect(ending(await client.callTool({ name: paySomebody, arguments: { amount: 7 } }))).toBe("paid 7 to Dana");
    expect(asked).toEqual(["A call waits for your approval.", "Pay whom?"]);
    expect(upstream.paid).toEqual([7]);
  });

  it("runs what was approved elsewhere, also where the server then asks a question of its own", async () => {
    const asked: string[] = [];
    const client = await connect(era, (await start("never")) + path, ({ message }) => {
      asked.push(message);
      return { action: "accept", content: { name: "Dana" } };
    });
    const call = { name: paySomebody, arguments: { amount: 7 } };
    expect(ending(await client.callTool(call))).toMatchObject({ status: "pending_confirmation" });
    const [waiting] = await arsenal.approvals.list();
    await arsenal.approvals.approve(waiting?.id ?? "", localOperator({ id: "dana" }));
    expect(ending(await client.callTool(call))).toBe("paid 7 to Dana");
    expect(asked).toEqual(["Pay whom?"]);
    expect(await states()).toEqual([]);
  });

  it("does not run what somebody approved elsewhere against its person's no", async () => {
    const thinking = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<Reply>();
    const client = await connect(era, (await start()) + path, () => (thinking.resolve(), answered.promise));
    const call = client.callTool({ name: pay, arguments: { amount: 5 } });
    await thinking.promise;
    const [waiting] = await arsenal.approvals.list();
    const dana = { id: "dana", roles: ["approver"], capabilities: [], scopes: [], local: false };
    await arsenal.approvals.approve(waiting?.id ?? "", dana);
    answered.resolve({ action: "decline" });
    const result = await call;
    expect(ending(result)).toMatchObject({ status: "permission_denied", code: "APPROVAL_INVALID" });
    expect(toldIn(result)[0]).toContain("The confirmation was denied. Do not make this call again");
    expect(upstream.paid).toEqual([]);
  });

  it("asks nobody where people may not approve their own calls", async () => {
    const ada = person(YES);
    const client = await connect(era, (await start("never")) + path, ada.reply);
    const result = await client.callTool({ name: pay, arguments: { amount: 5 } });
    expect(ending(result)).toMatchObject({ status: "pending_confirmation" });
    expect(ada.asked).toEqual([]);
    expect(upstream.paid).toEqual([]);
  });

  it("asks nobody about arguments that are too long to be read", async () => {
    const ada = person(YES);
    const client = await connect(era, (await start()) + path, ada.reply);
    const result = await client.callTool({ name: pay, arguments: { amount: 5, to: "x".repeat(4_000) } });
    expect(ending(result)).toMatchObject({ status: "pending_confirmation" });
    expect(ada.asked).toEqual([]);
  });

  it("is not asked where it cannot show a form", async () => {
    const url = (await start()) + path;
    const ada = person(YES);
    for (const elicitation of ["none", { url: {} }] as const) {
      const client = await connect(era, url, ada.reply, elicitation);
      const result = await client.callTool({ name: pay, arguments: { amount: 5 } });
      expect(ending(result)).toMatchObject({ status: "pending_confirmation" });
    }
    expect(ada.asked).toEqual([]);
    expect(upstream.paid).toEqual([]);
  });
});
