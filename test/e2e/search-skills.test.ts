import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKeyText, hashOfKey } from "../../src/adapters/identity/api-keys/key-file.ts";
import { apiKeys } from "../../src/adapters/identity/index.ts";
import { ToolArsenal } from "../../src/arsenal.ts";
import { createPrincipal } from "../../src/guard/principal.ts";
import { createClient } from "../../src/client/index.ts";
import type { RetrievalResult } from "../../src/retrieve/result.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";
import { startSkillServer } from "../mcp/skill-server.ts";

const skill = (name: string, description: string): Readonly<Record<string, string>> => ({
  [`${name}/SKILL.md`]: `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`,
});
const SHOP = {
  ...skill("returns", "How to refund an order that a customer sends back."),
  ...skill("gift-cards", "How to sell and redeem gift cards."),
};
const BANK = skill("chargebacks", "How to refund an order after the customer's bank disputes the payment.");

const guestKey = createKeyText("guest");
const clerkKey = createKeyText("clerk");
const ends: (() => Promise<unknown>)[] = [];
let served: ServedGateway;
let inCode: ServedGateway;

beforeAll(async () => {
  const stored = (id: string, key: string) => ({
    id,
    hash: hashOfKey(key),
    principal: createPrincipal({ id, capabilities: ["read_data", "network_access", "external_api"] }),
  });
  const identity = apiKeys({ keys: [stored("guest", guestKey), stored("clerk", clerkKey)] });
  const arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    policy: {
      sees: ({ namespace }, { id }) => id !== "guest" || namespace !== "bank",
      decide: () => ({ effect: "allow" }),
    },
  });
  ends.push(() => arsenal.close());
  arsenal.register({ name: "refund", namespace: "orders", description: "Refunds an order of a customer." }, () => "ok");
  for (const [name, files] of Object.entries({ shop: SHOP, bank: BANK })) {
    const upstream = await startSkillServer(files);
    ends.push(() => upstream.close());
    await arsenal.addMcpServer({ name, transport: { kind: "http", url: upstream.url } });
  }
  served = await arsenal.serve({ mode: "dynamic", port: 0, identity });
  inCode = await arsenal.serve({ mode: "code", port: 0, identity });
  ends.push(() => served.close().then(() => inCode.close()));
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

const query = "refund the order of a customer";
const RETURNS = {
  uri: "skill://shop/returns/SKILL.md",
  name: "returns",
  description: "How to refund an order that a customer sends back.",
  server: "shop",
  score: expect.any(Number) as number,
};
const DISPUTED = "skill://bank/chargebacks/SKILL.md";

async function search(apiKey: string, options: object): Promise<RetrievalResult> {
  const client = createClient({ url: served.url ?? "", apiKey });
  return client.retrieve(query, options).finally(() => client.close());
}

async function overMcp(key: string, { url } = served): Promise<Client> {
  const client = new Client({ name: "host", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit }));
  return client;
}

describe("a search that includes skills", () => {
  it("returns the skills that fit, best first, beside the tools", async () => {
    const { tools, skills = [] } = await search(clerkKey, { includeSkills: true });
    expect(tools.map(({ tool }) => tool.id)).toEqual(["orders.refund"]);
    expect(skills.map(({ uri }) => uri).toSorted()).toEqual([DISPUTED, RETURNS.uri]);
    expect(skills.map(({ score }) => score)).toEqual(skills.map(({ score }) => score).toSorted((a, b) => b - a));
    expect((await search(clerkKey, { includeSkills: true, limit: 1 })).skills).toHaveLength(1);
  });

  it("returns no skill of a server that the caller may not see", async () => {
    expect((await search(guestKey, { includeSkills: true })).skills).toEqual([RETURNS]);
  });

  it("is opt-in", async () => {
    expect(await search(clerkKey, {})).not.toHaveProperty("skills");
  });

  it("is offered to models by find_relevant_tools, and what it returns can be read", async () => {
    const client = await overMcp(guestKey);
    const { tools } = await client.listTools();
    expect(tools[0]?.inputSchema.properties).toHaveProperty("include_skills");
    const find = async (given: object): Promise<{ readonly skills?: unknown }> => {
      const { content } = await client.callTool({ name: "find_relevant_tools", arguments: { query, ...given } });
      return JSON.parse((content[0] as { readonly text: string }).text) as { readonly skills?: unknown };
    };
    expect((await find({ include_skills: true })).skills).toEqual([RETURNS]);
    expect(await find({})).not.toHaveProperty("skills");
    const { contents } = await client.readResource({ uri: RETURNS.uri });
    expect(contents[0]).toMatchObject({ uri: RETURNS.uri, text: SHOP["returns/SKILL.md"] });
    await client.close();
  });

  it("is offered to models by search in code mode", async () => {
    const client = await overMcp(guestKey, inCode);
    const { tools } = await client.listTools();
    expect(tools[0]?.inputSchema.properties).toHaveProperty("include_skills");
    const linesOf = async (given: object): Promise<readonly string[]> => {
      const { content } = await client.callTool({ name: "search", arguments: { query, ...given } });
      return (content[0] as { readonly text: string }).text.split("\n");
    };
    const without = await linesOf({});
    const line = `Skill returns, at the resource ${RETURNS.uri}: ${RETURNS.description}`;
    expect(await linesOf({ include_skills: true })).toEqual([...without, line]);
    await client.close();
  });
});
