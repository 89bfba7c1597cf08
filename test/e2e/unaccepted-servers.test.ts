import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it } from "vitest";
import { localOperator, ToolArsenal } from "../../src/index.ts";
import { listenAs } from "./era-server.ts";

const close: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of close.splice(0).toReversed()) await end();
});

/** A server with a resource, a template and a prompt, and with a tool and instructions if wanted. It notes what it is asked for. */
function buildServer(asked: string[], withTool: boolean): Server {
  const tools = withTool ? { tools: {} } : {};
  const instructions = withTool ? { instructions: "Be kind." } : {};
  const server = new Server(
    { name: "box", version: "1.0.0" },
    { capabilities: { ...tools, resources: { subscribe: true }, prompts: {}, completions: {} }, ...instructions },
  );
  const noting =
    <Result>(what: string, result: Result) =>
    (): Result => (asked.push(what), result);
  if (withTool)
    server.setRequestHandler("tools/list", () => ({
      tools: [{ name: "ping", description: "Answers at once.", inputSchema: { type: "object" } }],
    }));
  server.setRequestHandler("resources/list", () => ({ resources: [{ uri: "note:1", name: "note" }] }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "note:{id}", name: "notes" }],
  }));
  server.setRequestHandler("resources/read", noting("read", { contents: [{ uri: "note:1", text: "Hello." }] }));
  server.setRequestHandler("resources/subscribe", noting("subscribe", {}));
  server.setRequestHandler("prompts/list", () => ({ prompts: [{ name: "greet" }] }));
  server.setRequestHandler("prompts/get", noting("get", { messages: [] }));
  server.setRequestHandler("completion/complete", noting("complete", { completion: { values: ["Ann"] } }));
  return server;
}

async function start(
  withTool: boolean,
): Promise<{ readonly arsenal: ToolArsenal; readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const upstream = await listenAs("legacy", () => buildServer(asked, withTool));
  close.push(() => upstream.close());
  const arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    security: { policy: "strict", pins: "all", allow: ["box.*"] },
  });
  close.push(() => arsenal.close());
  await arsenal.addMcpServer({ name: "box", transport: { kind: "http", url: upstream.url } });
  const gateway = await arsenal.serve({ port: 0 });
  close.push(() => gateway.close());
  return { arsenal, url: gateway.url ?? "", asked };
}

async function connect(url: string, mode: "auto" | "legacy"): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  close.push(() => client.close());
  return client;
}

const PLANES = [
  { plane: "the aggregate", path: "/mcp", uri: "toolarsenal:box/note:1", prompt: "box-greet" },
  { plane: "its own address", path: "/mcp/upstreams/box", uri: "note:1", prompt: "greet" },
] as const;
const CASES = PLANES.flatMap((plane) => (["auto", "legacy"] as const).map((mode) => ({ ...plane, mode })));

describe.each(CASES)("a server that nobody accepted, on $plane ($mode)", ({ path, uri, prompt, mode }) => {
  const listsOf = async (client: Client) => ({
    resources: (await client.listResources()).resources.length,
    templates: (await client.listResourceTemplates()).resourceTemplates.length,
    prompts: (await client.listPrompts()).prompts.length,
  });
  const requestsOf = (client: Client): readonly Promise<unknown>[] => [
    client.readResource({ uri }),
    client.getPrompt({ name: prompt }),
    client.complete({ ref: { type: "ref/prompt", name: prompt }, argument: { name: "who", value: "A" } }),
    ...(mode === "legacy" ? [client.subscribeResource({ uri })] : []),
  ];

  it.each([
    ["one of its tools", true, "box.ping"],
    ["its instructions", true, "box#instructions"],
    ["the server, which has no tools and says nothing of itself", false, "box#instructions"],
  ])("has no prompts and resources until somebody accepts %s", async (_what, withTool, id) => {
    const { arsenal, url, asked } = await start(withTool);
    const client = await connect(url + path, mode);
    expect(await listsOf(client)).toEqual({ resources: 0, templates: 0, prompts: 0 });
    const refused = await Promise.allSettled(requestsOf(client));
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => "rejected"));
    expect(asked).toEqual([]);

    const accepted = new Promise<void>((resolve) => {
      arsenal.subscribe(({ name }) => (name === "ensemble-accepted" ? resolve() : undefined));
    });
    await arsenal.pins?.accept(id, localOperator({ id: "dana" }));
    await accepted;
    expect(await listsOf(client)).toEqual({ resources: 1, templates: 1, prompts: 1 });
    await Promise.all(requestsOf(client));
    expect(asked.length).toBe(refused.length);
  });
});
