import { PassThrough } from "node:stream";
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { internalsOf, ToolArsenal } from "../../src/arsenal.ts";
import type { HttpSettings } from "../../src/adapters/sources/mcp/settings.ts";
import { listenAs } from "./era-server.ts";
import { buildEchoing } from "./planted-secrets/echoing-upstream.ts";
import { tracesOf } from "./planted-secrets/secrets.ts";

const CREDENTIAL = "upstream-credential/of+the=gateway-4711";

const close: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of close.splice(0).toReversed()) await end();
});

/** Connects to an upstream that repeats the credential it was sent. */
async function startArsenal(
  upstreamEra: "legacy" | "modern",
  where: (url: string) => HttpSettings = inHeader,
): Promise<ToolArsenal> {
  const upstream = await listenAs(upstreamEra, () => buildEchoing(CREDENTIAL));
  close.push(() => upstream.close());
  const arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    security: { scan: { results: "off" } },
    environment: { UPSTREAM_TOKEN: CREDENTIAL },
  });
  close.push(() => arsenal.close());
  await arsenal.addMcpServer({ name: "box", transport: where(upstream.url) });
  return arsenal;
}

function inHeader(url: string): HttpSettings {
  return { kind: "http", url, headers: { Authorization: "Bearer ${secret:env:UPSTREAM_TOKEN}" } };
}

/** `fetch` that keeps a copy of everything it receives. */
function recordingFetch(received: string[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const decoder = new TextDecoder();
    const copying = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        received.push(decoder.decode(chunk, { stream: true }));
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(copying), response);
  };
}

interface Surface {
  readonly era: "legacy" | "modern";
  readonly prefix: string;
  connect(arsenal: ToolArsenal, received: string[]): Promise<Transport>;
}

function overHttp(era: Surface["era"], path: string, prefix: string): Surface {
  return {
    era,
    prefix,
    async connect(arsenal, received) {
      const served = await arsenal.serve({ port: 0, mode: "static" });
      close.push(() => served.close());
      const url = new URL(`${served.url}${path}`);
      const options = { fetch: recordingFetch(received) };
      return path === "/sse" ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options);
    },
  };
}

const OVER_STDIO: Surface = {
  era: "legacy",
  prefix: "box-",
  async connect(arsenal, received) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = await arsenal.serve({ transport: "stdio", mode: "static", input, output });
    close.push(() => served.close());
    let rest = "";
    const transport: Transport = {
      async start() {
        output.on("data", (chunk: Buffer) => {
          received.push(chunk.toString());
          const lines = (rest + chunk.toString()).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) transport.onmessage?.(JSON.parse(line));
        });
      },
      async send(message) {
        input.write(`${JSON.stringify(message)}\n`);
      },
      async close() {
        transport.onclose?.();
      },
    };
    return transport;
  },
};

const SURFACES: Readonly<Record<string, Surface>> = {
  "the aggregate over HTTP, legacy": overHttp("legacy", "/mcp", "box-"),
  "the aggregate over HTTP, modern": overHttp("modern", "/mcp", "box-"),
  "the aggregate over SSE": overHttp("legacy", "/sse", "box-"),
  "the aggregate over stdio": OVER_STDIO,
  "one upstream, legacy": overHttp("legacy", "/mcp/upstreams/box", ""),
  "one upstream, modern": overHttp("modern", "/mcp/upstreams/box", ""),
};

/** Does everything that a client can, and returns what it was answered, by what it asked. */
async function useEverything(
  client: Client,
  prefix: string,
  onMessage: (message: string) => void,
): Promise<Record<string, unknown>> {
  const call = (name: string) =>
    client
      .callTool({ name: `${prefix}${name}`, arguments: {} }, { onprogress: ({ message = "" }) => onMessage(message) })
      .catch((error: unknown) => ({ error: String(error), data: (error as { readonly data?: unknown }).data }));
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const { prompts } = await client.listPrompts();
  const [{ uri = "" } = {}, { name = "" } = {}] = [resources[0], prompts[0]];
  return {
    tools: await client.listTools(),
    resources,
    resourceTemplates,
    prompts,
    answer: await call("answer"),
    fail: await call("fail"),
    refuse: await call("refuse"),
    report: await call("report"),
    log: await call("log"),
    elicit: await call("elicit"),
    sample: await call("sample"),
    read: await client.readResource({ uri }),
    prompt: await client.getPrompt({ name }),
    completion: await client.complete({ ref: { type: "ref/prompt", name }, argument: { name: "to", value: "" } }),
  };
}

describe.each(["legacy", "modern"] as const)("a %s upstream that repeats the gateway's credential", (upstreamEra) => {
  it.each(Object.entries(SURFACES))("does not get it to a client of %s", async (_name, { era, prefix, connect }) => {
    const arsenal = await startArsenal(upstreamEra);
    const received: string[] = [];
    const asked: string[] = [];
    let progress = "";
    const client = new Client(
      { name: "test", version: "1" },
      {
        capabilities: { elicitation: {}, sampling: {} },
        versionNegotiation: { mode: era === "modern" ? "auto" : "legacy" },
      },
    );
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      return { action: "accept" as const, content: { name: "Ann" } };
    });
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      asked.push(JSON.stringify(params.messages));
      return { role: "assistant" as const, content: { type: "text" as const, text: "Yes." }, model: "none" };
    });
    await client.connect(await connect(arsenal, received));
    close.push(() => client.close());
    const answers = await useEverything(client, prefix, (message) => void (progress += message));

    const wire = received.join("");
    const found = tracesOf(CREDENTIAL).filter((trace) => [wire, progress].some((text) => text.includes(trace)));
    expect(found).toEqual([]);
    // It was repeated in each of them: what stands in its place shows that.
    expect(wire).toContain("Progress with [redacted]");
    const clean = Object.entries(answers).filter(([, answer]) => !JSON.stringify(answer).includes("[redacted]"));
    expect(clean.map(([name]) => name)).toEqual([]);
    expect(asked.every((question) => question.includes("[redacted]")) && asked.length).toBe(2);
  });
});

describe("an error of an upstream on /mcp/upstreams", () => {
  const encoded = encodeURIComponent(CREDENTIAL);
  it.each<[string, (url: string) => HttpSettings]>([
    ["a written-out header", (url) => ({ kind: "http", url, headers: { "X-Api-Key": CREDENTIAL } })],
    ["the address's query", (url) => ({ kind: "http", url: `${url}?api_key=${encoded}` })],
  ])("does not tell the credential that is in %s", async (_name, where) => {
    const arsenal = await startArsenal("legacy", where);
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
    await client.connect(await overHttp("legacy", "/mcp/upstreams/box", "").connect(arsenal, []));
    close.push(() => client.close());
    await expect(client.callTool({ name: "refuse", arguments: {} })).rejects.toMatchObject({
      code: -32_050,
      message: expect.stringContaining("Refused with Bearer [redacted] and [redacted]"),
      data: { seen: "Data with Bearer [redacted] and [redacted]", "[redacted]": 1 },
    });
  });
});

describe("a server that ends at once, and repeats its credential in its last words", () => {
  it("does not get it onto the page at /, into /readyz, or to a client", async () => {
    const program = "process.stderr.write(`no ${process.env.KEY}, ${btoa(process.env.KEY)}\\n`, () => process.exit(1))";
    const env = { KEY: "env:UPSTREAM_TOKEN" };
    const transport = { kind: "stdio", command: process.execPath, args: ["-e", program], env } as const;
    const arsenal = new ToolArsenal({ telemetry: { enabled: false }, environment: { UPSTREAM_TOKEN: CREDENTIAL } });
    close.push(() => arsenal.close());
    await arsenal.addMcpServer({ name: "box", transport }, { patient: true });
    await internalsOf(arsenal).upstreamsAttempted();
    const gateway = await arsenal.serve({ port: 0 });
    close.push(() => gateway.close());
    const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const answers = await Promise.all([
      fetch(`${gateway.url}/`),
      fetch(`${gateway.url}/readyz`),
      fetch(`${gateway.url}/mcp/upstreams/box`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize }),
      }),
    ]);
    const shown = (await Promise.all(answers.map((answer) => answer.text()))).join("\n");
    expect(shown.match(/exited with code 1/g)).toHaveLength(2);
    expect(shown).toContain("no [redacted], [redacted]");
    expect(tracesOf(CREDENTIAL).filter((trace) => shown.includes(trace))).toEqual([]);
  });
});
