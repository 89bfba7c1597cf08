import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { AgentCard, type Message, type Task, verifyAgentCardSignature } from "@a2a-js/sdk";
import { calculateJwkThumbprint } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { A2A_WAYS, asking, outcomeOf, readEvents } from "../../../test/serve/a2a-clients.ts";
import { addTool, ticketArsenal, toolset } from "../../../test/mcp/toolset-gateway.ts";
import { bearerToken } from "../../adapters/identity/bearer-token.ts";
import type { ToolArsenal } from "../../arsenal.ts";
import type { TokenOrigin } from "../../guard/identity.port.ts";
import { localOperator } from "../../guard/principal.ts";
import type { ServeOptions } from "../serve-arsenal.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function serve(arsenal: ToolArsenal, options: ServeOptions = {}): Promise<string> {
  const gateway = await arsenal.serve({ port: 0, ...options });
  ends.push(
    () => arsenal.close(),
    () => gateway.close(),
  );
  return gateway.url ?? "";
}

const TOKENS = { ada: "token-of-ada-with-length", bob: "token-of-bob-with-length" };
const identity = bearerToken({
  tokens: Object.entries(TOKENS).map(([id, token]) => ({
    token,
    principal: localOperator({ id, local: false, roles: [id] }),
  })),
});
const as = (name: keyof typeof TOKENS): Record<string, string> => ({ authorization: `Bearer ${TOKENS[name]}` });

const [jsonRpc] = A2A_WAYS;

/** Sends one message and says what came of it. */
async function ask(url: string, part: string | object, more: Partial<Message> = {}, headers = {}): Promise<Outcome> {
  const task = await (await jsonRpc.connect(url, headers)).sendMessage(asking(part, more));
  return { ...outcomeOf(task), task: task as Task };
}
type Outcome = ReturnType<typeof outcomeOf> & { readonly task: Task };

const cardOf = async (url: string, headers = {}): Promise<Record<string, unknown> & { skills: { id: string }[] }> =>
  (await (await fetch(`${url}/.well-known/agent-card.json`, { headers })).json()) as never;

describe.each(A2A_WAYS)("the arsenal as an agent, over $name", ({ connect }) => {
  it("answers a text with the tools that fit [000-8.3-send]", async () => {
    const client = await connect(await serve(ticketArsenal()));
    const { state, made } = outcomeOf(await client.sendMessage(asking("create a ticket")));
    expect(state).toBe("completed");
    expect(made[0]).toContain("- support.create_ticket: Will create_ticket for a customer.");
    const { tools } = made[1] as { readonly tools: readonly object[] };
    expect(tools[0]).toMatchObject({
      id: "support.create_ticket",
      name: "support-create_ticket",
      description: "Will create_ticket for a customer.",
      parameters: { type: "object" },
      score: expect.any(Number) as number,
    });
  });

  it("runs a tool for a data part [000-8.3-execute]", async () => {
    const arsenal = ticketArsenal();
    arsenal.register({ name: "sum", namespace: "support", description: "Adds up." }, ({ a, b }) => ({
      sum: Number(a) + Number(b),
    }));
    const client = await connect(await serve(arsenal));
    const call = { tool: "support.sum", arguments: { a: 20, b: 22 } };
    expect(outcomeOf(await client.sendMessage(asking(call)))).toEqual({
      state: "completed",
      said: [],
      made: [{ sum: 42 }],
    });
    const events = await readEvents(client.sendMessageStream(asking(call)));
    expect(events).toEqual(["task submitted", "working", 'artifact {"sum":42}', "completed"]);
  });

  it("streams progress", async () => {
    const arsenal = ticketArsenal();
    arsenal.register({ name: "slow", namespace: "support", description: "Takes its time." }, (_args, { progress }) => {
      progress({ progress: 1, total: 2, message: "halfway" });
      return "done";
    });
    const client = await connect(await serve(arsenal));
    const events = await readEvents(client.sendMessageStream(asking({ tool: "support.slow" })));
    expect(events).toEqual(["task submitted", "working", "working", 'artifact "done"', "completed"]);
  });

  it("asks for approval, and goes on once it is given", async () => {
    const arsenal = ticketArsenal();
    arsenal.register(
      { name: "refund", namespace: "billing", description: "Pays back.", requiresConfirmation: true },
      ({ amount }) => `paid ${String(amount)}`,
    );
    const client = await connect(await serve(arsenal));
    const asked = (await client.sendMessage(asking({ tool: "billing.refund", arguments: { amount: 5 } }))) as Task;
    const { state, said } = outcomeOf(asked);
    expect(state).toBe("input_required");
    const { confirmationId } = said[1] as { readonly confirmationId: string };
    expect(said[1]).toMatchObject({ status: "pending_confirmation", code: "CONFIRMATION_REQUIRED" });
    await arsenal.approvals.answer(confirmationId, "approve", localOperator({ id: "boss" }));
    const { id: taskId, contextId } = asked;
    const answered = await client.sendMessage(asking({ confirmationId }, { taskId, contextId }));
    expect(answered).toMatchObject({ id: taskId });
    expect(outcomeOf(answered)).toMatchObject({ state: "completed", made: ["paid 5"] });
  });

  it("cancels the call of a task", async () => {
    const arsenal = ticketArsenal();
    const started = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<string>();
    arsenal.register({ name: "wait", namespace: "support", description: "Waits." }, (_args, { signal }) => {
      started.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          stopped.resolve("stopped");
          reject(new Error("stopped"));
        });
      });
    });
    const client = await connect(await serve(arsenal));
    const task = await client.sendMessage(asking({ tool: "support.wait" }, { returnImmediately: true }));
    await started.promise;
    const { id } = task as Task;
    expect(outcomeOf(await client.cancelTask({ id, tenant: "", metadata: {} })).state).toBe("canceled");
    expect(await stopped.promise).toBe("stopped");
    expect(outcomeOf(await client.getTask({ id, tenant: "" })).state).toBe("canceled");
  });

  it("keeps the tasks of one caller from another", async () => {
    const url = await serve(ticketArsenal(), { identity });
    const ada = await connect(url, as("ada"));
    const { id } = (await ada.sendMessage(asking("create a ticket"))) as Task;
    const bob = await connect(url, as("bob"));
    await expect(bob.getTask({ id, tenant: "" })).rejects.toThrow(/not found/i);
    await expect(bob.sendMessage(asking("go on", { taskId: id }))).rejects.toThrow(/not found/i);
    expect(outcomeOf(await ada.getTask({ id, tenant: "" })).state).toBe("completed");
    await expect((await connect(url)).getTask({ id, tenant: "" })).rejects.toThrow();
  });
});

describe.each(["return", "throw"] as const)("a task that fails, with failures that %s,", (onFailure) => {
  const fix = "Call again with arguments that match the tool's parameters.";
  const WRONG = { code: "ARGUMENTS_INVALID", toolId: "support.add", fix };
  it.each([
    ["a tool there is not", { tool: "support.nope" }, { code: "TOOL_NOT_FOUND" }],
    ["arguments that do not fit", { tool: "support.add", arguments: { a: [] } }, WRONG],
    ["arguments that are no object", { tool: "support.add", arguments: 5 }, { code: "CALL_INVALID" }],
    ["a data part that says nothing", { hello: 1 }, { code: "CALL_INVALID" }],
    ["a toolset there is not", { tool: "support.add", toolset: "nope" }, { code: "TOOL_NOT_FOUND" }],
    ["a tool outside its toolset", { tool: "billing.pay", toolset: "helpers" }, { code: "TOOL_NOT_FOUND" }],
  ])("says the code for %s, and what is known besides", async (_what, data, told) => {
    const arsenal = ticketArsenal({ execution: { onFailure } });
    const parameters = { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const;
    arsenal.register({ name: "add", namespace: "support", description: "Adds.", parameters }, ({ a }) => a);
    const { state, said } = await ask(await serve(arsenal), data);
    expect(state).toBe("failed");
    expect(said).toEqual([expect.any(String), expect.objectContaining(told)]);
  });

  it("names no secret", async () => {
    const arsenal = ticketArsenal({ execution: { onFailure } }, { environment: { KEY: "hunter2-hunter2" } });
    arsenal.register({ name: "leak", namespace: "support", description: "Fails." }, () => {
      throw new Error("cannot log in with sk-live-0123456789abcdef0123456789abcdef");
    });
    const { task } = await ask(await serve(arsenal), { tool: "support.leak" });
    expect(JSON.stringify(task)).not.toContain("0123456789abcdef");
  });
});

describe("the trace of a task", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

  it.each([
    ["the header", {}, { traceparent }],
    ["the message", { metadata: { traceparent } }, {}],
  ])("is the one that %s names", async (_where, more, headers) => {
    const arsenal = ticketArsenal();
    const seen: string[] = [];
    arsenal.register({ name: "trace", namespace: "support", description: "Traces." }, (_args, context) => {
      seen.push(context.traceId);
      return "";
    });
    await ask(await serve(arsenal), { tool: "support.trace" }, more, headers);
    expect(seen).toEqual([traceId]);
  });
});

describe("the card of the arsenal", () => {
  it("is at both well-known addresses, with its skills and the number of its tools [000-8.1-card] [000-8.1-skills] [000-8.1-count] [000-8.3-well-known]", async () => {
    const url = await serve(ticketArsenal());
    const card = await cardOf(url);
    expect(card).toMatchObject({
      name: "ToolArsenal",
      description: "Finds tools and runs them under policy. 4 tools available.",
      version: expect.any(String) as string,
      provider: { organization: "ToolArsenal", url },
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
      supportedInterfaces: expect.arrayContaining([
        { url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url: `${url}/a2a/v1`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      ]) as object,
    });
    const skills = ["tool_discovery", "tool_execution", "toolset_both", "toolset_helpers", "toolset_payers"];
    expect(card.skills.map(({ id }) => id)).toEqual(skills);
    expect(card).not.toHaveProperty("securitySchemes");
    const old = (await (await fetch(`${url}/.well-known/agent.json`)).json()) as object;
    expect(old).toMatchObject({ name: "ToolArsenal", url: `${url}/a2a`, protocolVersion: "0.3.0" });
  });

  it("is another when a tool or a toolset is added, and the same object until then", async () => {
    const arsenal = ticketArsenal();
    const url = await serve(arsenal);
    const etag = async (): Promise<string | null> =>
      (await fetch(`${url}/.well-known/agent-card.json`)).headers.get("etag");
    const first = await etag();
    expect(await etag()).toBe(first);
    addTool(arsenal, "close_ticket");
    expect((await cardOf(url))["description"]).toContain("5 tools");
    arsenal.toolsets.add(toolset("closers", { ids: ["support.close_ticket"] }));
    expect((await cardOf(url)).skills.map(({ id }) => id)).toContain("toolset_closers");
  });

  it("names nothing to strangers, says how they prove themselves, and shows callers what they may use", async () => {
    const arsenal = ticketArsenal();
    arsenal.toolsets.add(toolset("adas", { namespaces: ["support"] }, { policy: { allowedRoles: ["ada"] } }));
    const url = await serve(arsenal, { identity });
    const card = await cardOf(url, { "A2A-Version": "1.0" });
    expect(card).toMatchObject({
      description: "Finds tools and runs them under policy. 4 tools available.",
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "bearer" } } },
      securityRequirements: [{ schemes: { bearer: {} } }],
    });
    expect(JSON.stringify(card)).not.toMatch(/ticket|helpers|adas/);
    const seen = async (name: keyof typeof TOKENS): Promise<readonly string[]> => {
      const client = await jsonRpc.connect(url, as(name));
      return (await client.getExtendedAgentCard({ tenant: "" })).skills.map(({ id }) => id);
    };
    expect(await seen("ada")).toContain("toolset_adas");
    expect(await seen("bob")).not.toContain("toolset_adas");
    expect(await seen("bob")).toContain("toolset_helpers");
  });
});

describe("the extended card of the arsenal", () => {
  const read = async (url: string) => (await jsonRpc.connect(url)).getExtendedAgentCard({ tenant: "" });

  it("lists the tools as skills, and how each is called", async () => {
    const { skills, capabilities } = await read(await serve(ticketArsenal()));
    expect(skills.find(({ id }) => id === "support.find_ticket")).toMatchObject({
      name: "find_ticket",
      description: "Will find_ticket for a customer.",
    });
    expect(capabilities?.extensions).toMatchObject([
      {
        uri: "urn:toolarsenal:a2a:tools:v1",
        required: false,
        params: { tools: { "support.find_ticket": { parameters: { type: "object" } } } },
      },
    ]);
  });

  it("lists no more than a reader of cards takes", async () => {
    const arsenal = ticketArsenal();
    const long = "x".repeat(2000);
    for (let each = 0; each < 600; each++)
      arsenal.register({ name: `tool_${each}`, description: `Does ${each}. ${long}` }, () => each);
    const { skills } = await read(await serve(arsenal));
    expect(skills.length).toBeGreaterThan(100);
    expect(JSON.stringify(skills).length).toBeLessThan(600_000);
  });
});

describe("the security schemes of the card", () => {
  const schemesWith = async (name: string, tokenOrigin?: TokenOrigin): Promise<unknown> => {
    const asks = {
      name,
      challenge: "Bearer",
      authenticate: async () => undefined,
      ...(tokenOrigin && { tokenOrigin }),
    };
    const url = await serve(ticketArsenal(), { identity: asks });
    return (await cardOf(url, { "A2A-Version": "1.0" }))["securitySchemes"];
  };

  it("are those that the gateway asks for", async () => {
    expect(await schemesWith("bearer-token+api-keys")).toEqual({
      bearer: { httpAuthSecurityScheme: { description: "A token or an API key of the gateway.", scheme: "bearer" } },
      apiKey: {
        apiKeySecurityScheme: { description: "An API key of the gateway.", location: "header", name: "X-API-Key" },
      },
    });
    const tokenOrigin = { authorizationServers: ["https://login.example.com"], scopes: [] };
    expect(await schemesWith("jwt", tokenOrigin)).toEqual({
      bearer: {
        httpAuthSecurityScheme: {
          description: "A token of https://login.example.com.",
          scheme: "bearer",
          bearerFormat: "JWT",
        },
      },
    });
  });
});

describe("a toolset over A2A", () => {
  it("is searched and run if its skill is addressed [003-transport-a2a]", async () => {
    const url = await serve(ticketArsenal());
    const metadata = { skillId: "toolset_payers" };
    const { made } = await ask(url, "create a ticket or pay", { metadata });
    expect(JSON.stringify(made)).not.toContain("ticket for a customer");
    expect((await ask(url, { tool: "billing.pay" }, { metadata })).made).toEqual(["pay"]);
    expect((await ask(url, { tool: "support.find_ticket" }, { metadata })).state).toBe("failed");
  });

  it("cannot be addressed, and is not named, if a2a.expose leaves it out", async () => {
    const url = await serve(ticketArsenal({ a2a: { expose: ["helpers"] } }));
    expect((await cardOf(url)).skills.map(({ id }) => id)).toEqual([
      "tool_discovery",
      "tool_execution",
      "toolset_helpers",
    ]);
    expect((await ask(url, { tool: "support.find_ticket", toolset: "helpers" })).state).toBe("completed");
    const refused = await ask(url, { tool: "billing.pay", toolset: "payers" });
    expect(refused.said[1]).toMatchObject({ code: "TOOLSET_NOT_FOUND" });
  });

  it("is all there is if it alone is served", async () => {
    const url = await serve(ticketArsenal(), { toolset: "helpers" });
    const card = await cardOf(url);
    expect(card["description"]).toContain("2 tools");
    expect(card.skills.map(({ id }) => id)).toEqual(["tool_discovery", "tool_execution"]);
    expect((await ask(url, { tool: "billing.pay" })).said[1]).toMatchObject({ code: "TOOL_NOT_FOUND" });
    expect((await ask(url, { tool: "support.find_ticket", toolset: "payers" })).made).toEqual(["find_ticket"]);
  });
});

describe("the port of the agent", () => {
  it("is where serveA2a serves [000-14-serve-a2a]", async () => {
    const a2aPort = await freePort();
    const arsenal = ticketArsenal({ a2a: { a2aPort } });
    const served = await arsenal.serveA2a();
    ends.push(
      () => arsenal.close(),
      () => served.close(),
    );
    expect(served.url).toBe(`http://127.0.0.1:${a2aPort}`);
    expect((await ask(served.url ?? "", { tool: "billing.pay" })).made).toEqual(["pay"]);
  });

  it("is opened beside the gateway's if serve_a2a says so, and serves nothing else [000-9.1-serve-a2a]", async () => {
    const a2aPort = await freePort();
    const url = await serve(ticketArsenal({ a2a: { serveA2a: true, a2aPort } }));
    const own = `http://127.0.0.1:${a2aPort}`;
    for (const each of [url, own]) expect((await ask(each, { tool: "billing.pay" })).made).toEqual(["pay"]);
    expect((await fetch(`${own}/mcp`)).status).toBe(404);
  });
});

/** A port that was free a moment ago: a configuration cannot ask for any. */
async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

describe("a signed card", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ format: "pem", type: "pkcs8" });

  it("can be verified with the public key, in every form it is read in", async () => {
    const arsenal = ticketArsenal({ a2a: { signingKey: "env:CARD_KEY" } }, { environment: { CARD_KEY: String(pem) } });
    const url = await serve(arsenal, { identity });
    const kid = await calculateJwkThumbprint(publicKey.export({ format: "jwk" }) as Record<string, string>);
    const verify = verifyAgentCardSignature(async (asked) => {
      expect(asked).toBe(kid);
      return publicKey;
    });
    for (const headers of [{}, { "A2A-Version": "1.0" }]) await verify(AgentCard.fromJSON(await cardOf(url, headers)));
    const extended = await (await jsonRpc.connect(url, as("ada"))).getExtendedAgentCard({ tenant: "" });
    await verify(extended);
    await expect(verify({ ...extended, name: "another" })).rejects.toThrow();
  });

  it("is not served if the key cannot be used, and the key is not shown", async () => {
    const environment = { CARD_KEY: "this-is-no-key-at-all" };
    const url = await serve(ticketArsenal({ a2a: { signingKey: "env:CARD_KEY" } }, { environment }));
    const response = await fetch(`${url}/.well-known/agent-card.json`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("this-is-no-key");
  });
});
