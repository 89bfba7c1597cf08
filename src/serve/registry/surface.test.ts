import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SAMPLE_TOOLS, startLegacyServer, type UpstreamServer } from "../../../test/mcp/upstream-server.ts";
import { askRegistry, requestsFor } from "../../../test/registries/api-requests.ts";
import { createApiCheck } from "../../../test/registries/check-api.ts";
import { REGISTRY_API } from "../../../test/registries/openapi-facts.ts";
import { generateEntries, startRegistry } from "../../../test/registries/registry-double.ts";
import { runInMemory } from "../../../test/e2e/terminal.ts";
import { ToolArsenal } from "../../index.ts";

interface Listed {
  readonly servers: readonly {
    readonly server: {
      readonly name: string;
      readonly version: string;
      readonly remotes: readonly { readonly url: string }[];
    };
  }[];
  readonly metadata: { readonly nextCursor?: string };
}

let upstreams: readonly UpstreamServer[];
let arsenal: ToolArsenal;
let url: string;
const TOKENS = { ada: "token-of-ada-0001", bob: "token-of-bob-0001" };

beforeAll(async () => {
  upstreams = await Promise.all([startLegacyServer(), startLegacyServer()]);
  arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    server: { tokens: TOKENS },
    toolsets: [
      { name: "desk", include: { namespaces: ["notes"] } },
      { name: "hidden", include: { namespaces: ["notes"] }, policy: { allowedTenants: ["acme"] } },
    ],
    policy: {
      sees: ({ namespace }, { id }) => id !== "bob" || namespace !== "payroll",
      decide: () => ({ effect: "allow" }),
    },
  });
  for (const [index, name] of ["notes", "payroll"].entries())
    await arsenal.addMcpServer({ name, transport: { kind: "http", url: upstreams[index]?.url ?? "" } });
  url = (await arsenal.serve({ port: 0 })).url ?? "";
});
afterAll(async () => {
  await arsenal.close();
  await Promise.all(upstreams.map((each) => each.close()));
});

async function ask(
  who: keyof typeof TOKENS,
  path: string,
  method = "GET",
): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(`${url}/registry/v0.1${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKENS[who]}` },
  });
  return { status: answer.status, body: await answer.json() };
}

const check = createApiCheck(REGISTRY_API);

/** Sends the requests, and expects the statuses and answers of the published API. */
async function expectApi(base: string, requests: ReturnType<typeof requestsFor>, headers?: Record<string, string>) {
  for (const request of requests) {
    const answer = await askRegistry(base, request, headers);
    const { isDescribed, problems } = check.answer(answer);
    expect([request, answer.status, problems]).toEqual([request, request.status, []]);
    if (!isDescribed) expect(answer.body).toEqual({ error: expect.any(String) });
  }
}

const names = async (who: keyof typeof TOKENS, query = ""): Promise<readonly string[]> =>
  ((await ask(who, `/servers${query}`)).body as Listed).servers.map(({ server }) => server.name);

describe("/registry/v0.1", () => {
  it("lists to each caller what that caller may use", async () => {
    expect(SAMPLE_TOOLS.length).toBeGreaterThan(0);
    const common = ["localhost/toolarsenal", "localhost/toolsets.desk"];
    expect(await names("ada")).toEqual([...common, "localhost/notes", "localhost/payroll"]);
    expect(await names("bob")).toEqual([...common, "localhost/notes"]);
    expect((await ask("bob", "/servers/localhost%2Fpayroll/versions/latest")).status).toBe(404);
    expect((await ask("ada", "/servers/localhost%2Fpayroll/versions/latest")).status).toBe(200);
    expect((await fetch(`${url}/registry/v0.1/servers`)).status).toBe(401);
  });

  it("answers every request as the published API does", async () => {
    const authorization = `Bearer ${TOKENS.ada}`;
    const { body } = await ask("ada", "/servers?search=localhost%2Fnotes");
    const { name = "", version = "" } = (body as Listed).servers[0]?.server ?? {};
    await expectApi(`${url}/registry`, requestsFor(name, version), { authorization });
    const unknown = requestsFor(name, version).map((request) => ({ ...request, status: 401 }));
    await expectApi(`${url}/registry`, unknown);
    expect((await ask("ada", "/servers?updated_since=2020")).status).toBe(400);
    expect((await ask("ada", "/servers?include_deleted=maybe")).status).toBe(400);
    expect((await ask("ada", "/servers", "POST")).status).toBe(405);
  });

  it("gives pages that together are the whole list", async () => {
    const all: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const { body } = await ask("ada", `/servers?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
      all.push(...(body as Listed).servers.map(({ server }) => server.name));
      cursor = (body as Listed).metadata.nextCursor;
    }
    expect(all).toEqual(await names("ada"));
  });

  it("lists addresses at which a client finds the tools", async () => {
    const { body } = await ask("ada", "/servers?search=notes");
    const address = (body as Listed).servers[0]?.server.remotes[0]?.url ?? "";
    expect(address).toBe(`${url}/mcp/upstreams/notes`);
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
    };
    const headers = {
      authorization: `Bearer ${TOKENS.ada}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(message) });
    expect(answer.status).toBe(200);
    await answer.body?.cancel();
  });

  it("is a registry for another arsenal: toolarsenal add takes a server from it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arsenal-subregistry-"));
    const yaml = `registries: [{ name: gateway, url: "${url}/registry", token: "env:KEY", allow_private: true }]\n`;
    await writeFile(join(folder, "arsenal.yaml"), yaml);
    const environment = { KEY: TOKENS.ada, TOOLARSENAL_CACHE: "off" };
    const { out } = await runInMemory(["search", "--registries", "notes", "--json"], { folder, environment });
    expect(JSON.parse(out)).toMatchObject({
      servers: expect.arrayContaining([expect.objectContaining({ name: "localhost/notes" })]),
    });
    await rm(folder, { recursive: true });
  });
});

describe("the double of the official registry", () => {
  it("answers as the published API does", async () => {
    const double = await startRegistry(generateEntries(200));
    const documents = [...double.servers.values()].flat().map(({ server }) => server);
    expect(documents.flatMap((server) => check.shape("ServerDetail", server))).toEqual([]);
    const [first] = documents;
    await expectApi(double.url, requestsFor(first?.name ?? "", first?.version ?? ""));
    await double.close();
  });
});
