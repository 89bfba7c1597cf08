import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/run-cli.ts";
import { type ArsenalEvent, ToolArsenal } from "../../src/index.ts";
import { type Ran, runInMemory } from "./terminal.ts";

let folder: string;
let api: Server;
let origin: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-openapi-"));
  api = createServer((request, response) => {
    if (request.url === "/openapi.json") return void response.end(JSON.stringify(document("remote", ["ping"])));
    const known = request.headers["x-pet-key"] === "secret-pet-key";
    response.writeHead(known ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify({ path: request.url }));
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});
afterEach(async () => {
  api.closeAllConnections();
  await new Promise((resolve) => api.close(resolve));
  await rm(folder, { recursive: true });
});

/** A document with these operations, each a GET of its own path. */
function document(title: string, ids: readonly string[]): object {
  const operation = (operationId: string): object => ({
    get: {
      operationId,
      tags: [operationId.startsWith("admin") ? "admin" : "public"],
      summary: `Get the ${operationId} of the shelter`,
      responses: { "200": { description: "Fine" } },
    },
  });
  return {
    openapi: "3.1.0",
    info: { title, version: "1" },
    security: [{ petKey: [] }],
    paths: Object.fromEntries(ids.map((id) => [`/${id}`, operation(id)])),
    components: { securitySchemes: { petKey: { type: "apiKey", in: "header", name: "X-Pet-Key" } } },
  };
}

const put = (name: string, value: unknown): Promise<void> =>
  writeFile(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));

const pets = (more = ""): string => `
  - name: pets
    document: ./pets.json
    base_url: ${origin}
    credentials: { petKey: "env:PET_KEY" }
${more}`;

const environment = { PET_KEY: "secret-pet-key", NO_COLOR: "1" };
const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(argv, { folder, environment });

async function openConfigured(): Promise<{ readonly arsenal: ToolArsenal; readonly events: ArsenalEvent[] }> {
  const events: ArsenalEvent[] = [];
  const sink = { name: "test", write: (batch: readonly ArsenalEvent[]) => void events.push(...batch) };
  const arsenal = await ToolArsenal.fromConfig(join(folder, "arsenal.yaml"), { environment, sinks: [sink] });
  return { arsenal, events };
}

const ids = async (arsenal: ToolArsenal): Promise<readonly string[]> => (await arsenal.listTools()).map(({ id }) => id);

describe("openapi: in a configuration", () => {
  it("makes tools of a document, with base URL and credentials by reference", async () => {
    await put("pets.json", document("Pets", ["list_pets", "get_owner"]));
    await put("arsenal.yaml", `telemetry: { enabled: false }\nopenapi:${pets()}`);
    const { arsenal } = await openConfigured();
    await using _closing = arsenal;
    expect(await ids(arsenal)).toEqual(["pets.get_owner", "pets.list_pets"]);
    const result = await arsenal.execute({ toolName: "pets.list_pets", arguments: {} });
    expect(result).toMatchObject({ status: "success", result: { path: "/list_pets" } });
  });

  it("takes only the operations that its filters let through", async () => {
    await put("pets.json", document("Pets", ["list_pets", "get_owner", "admin_reset"]));
    const filters =
      "    include: { methods: [GET], operation_ids: [list_*, admin_*] }\n    exclude: { tags: [admin] }\n";
    await put("arsenal.yaml", `telemetry: { enabled: false }\nopenapi:${pets(filters)}`);
    const { arsenal } = await openConfigured();
    await using _closing = arsenal;
    expect(await ids(arsenal)).toEqual(["pets.list_pets"]);
  });

  it("reports what cannot be used, and loads the rest", async () => {
    await put("pets.json", document("Pets", ["list_pets"]));
    await put("broken.json", "{ not a document");
    await put(
      "arsenal.yaml",
      `telemetry: { enabled: false }
openapi:${pets()}
  - { name: broken, document: ./broken.json }
  - { name: pets, document: ./pets.json }
  - { name: leaky, document: ./pets.json, credentials: { petKey: written-out } }
  - { name: off, document: ./pets.json, disabled: true }
`,
    );
    const { arsenal, events } = await openConfigured();
    expect(await ids(arsenal)).toEqual(["pets.list_pets"]);
    await arsenal.close();
    const failures = events.filter(({ name }) => name === "ensemble-failed").map(({ data }) => data);
    expect(failures).toEqual([
      { ensemble: "pets", message: expect.stringContaining("already has that name") as string },
      {
        ensemble: "leaky",
        message:
          "credentials.petKey is not a reference to a secret. Write env:NAME, with the environment variable that holds it, or file:/path.",
      },
      { ensemble: "broken", kind: "openapi", message: expect.stringContaining("broken.json cannot be used") as string },
    ]);
    expect(JSON.stringify(failures)).not.toContain("written-out");
  });

  it("is fetched from an address without holding up the others", async () => {
    await put("pets.json", document("Pets", ["list_pets"]));
    await put(
      "arsenal.yaml",
      `telemetry: { enabled: false }\nopenapi:${pets()}  - { name: remote, document: "${origin}/openapi.json" }\n`,
    );
    const { out } = await run("list", "--json");
    expect((JSON.parse(out) as readonly { readonly id: string }[]).map(({ id }) => id)).toEqual([
      "pets.list_pets",
      "remote.ping",
    ]);
  });

  it("is checked by doctor, credentials included", async () => {
    await put("pets.json", document("Pets", ["list_pets"]));
    await put("arsenal.yaml", `openapi:${pets()}  - { name: gone, document: ./gone.json }\n`);
    const { code, out } = await run("doctor", "--running");
    expect(code).toBe(1);
    expect(out).toContain(`ok       pets: 1 tool from ${join(folder, "pets.json")}`);
    expect(out).toMatch(
      /failed {3}gone: .*gone\.json cannot be used as an OpenAPI document: it cannot be read\.\n {9}Check the path\./,
    );
    await put("arsenal.yaml", `openapi:${pets()}`);
    const unset = await runInMemory(["doctor"], { folder, environment: { NO_COLOR: "1" } });
    expect(unset.out).toMatch(/failed {3}pets: .*PET_KEY/);
  });

  it("has mistakes reported with their place, the known keys included", async () => {
    await put("arsenal.yaml", "openapi:\n  - name: pets\n    document: ./pets.json\n    zzzzzz: 1\n");
    expect((await run("list")).err).toContain(
      'arsenal.yaml:4:5 openapi.0.zzzzzz: unknown key "zzzzzz". Known keys here: name, document, namespace, server, base_url, server_variables, credentials, headers, include, exclude, trust_methods, files_from, max_tool_bytes, max_document_bytes, max_answer_bytes, timeout_ms, max_concurrent, disabled.',
    );
    await put("arsenal.yaml", "openapi:\n  - name: pets\n");
    expect((await run("list")).err).toContain("openapi.0.document: is missing");
    await put("arsenal.yaml", "zzzzzzzzzzz: 1\n");
    const { err } = await run("list");
    for (const key of ["openapi", "mcpServers", "servers", "inputs", "modules"]) expect(err).toContain(` ${key}`);
  });
});

interface Served {
  readonly url: string;
  /** Resolves when stderr has the pattern, counted from the last match. */
  until(pattern: RegExp): Promise<void>;
  stop(): Promise<number>;
}

async function serve(): Promise<Served> {
  const interrupted = new AbortController();
  let text = "";
  let from = 0;
  const waiting = new Set<() => void>();
  const ended = runCli(["serve", "--port", "0", "--mode", "static"], {
    out: { write: () => 0 },
    err: {
      write(part) {
        text += part;
        for (const look of waiting) look();
      },
    },
    folder,
    environment,
    signal: interrupted.signal,
  });
  const found = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(text.slice(from));
        if (!match) return;
        from += match.index + match[0].length;
        waiting.delete(look);
        resolve(match);
      };
      waiting.add(look);
      void ended.then((code) => reject(new Error(`It ended with ${code}: ${text}`)));
      look();
    });
  const [, url = ""] = await found(/Serving MCP at (\S+)\n/);
  return {
    url,
    until: async (pattern) => void (await found(pattern)),
    stop() {
      interrupted.abort();
      return ended;
    },
  };
}

async function served(url: string): Promise<readonly string[]> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/list",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/list",
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  const text = await response.text();
  const json = text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "");
  const { result } = JSON.parse(json) as { readonly result: { readonly tools: readonly { readonly name: string }[] } };
  return result.tools.map(({ name }) => name).toSorted();
}

/** As editors do: a new file takes the place of the old. */
async function replace(name: string, value: unknown): Promise<void> {
  await put(`${name}.new`, value);
  await rename(join(folder, `${name}.new`), join(folder, name));
}

describe("serve", () => {
  it("follows openapi: in its configuration and the documents themselves; a broken document leaves the old tools", async () => {
    await put("pets.json", document("Pets", ["list_pets"]));
    await put("shops.json", document("Shops", ["list_shops"]));
    await put("arsenal.yaml", `openapi:${pets()}`);
    const gateway = await serve();
    await gateway.until(/pets: 1 tool \(openapi, /);
    await gateway.until(/1 tool.*mode static/);
    expect(await served(gateway.url)).toEqual(["pets-list_pets"]);

    await replace("pets.json", document("Pets", ["list_pets", "get_owner"]));
    await gateway.until(/Configuration reloaded: replaced pets\./);
    expect(await served(gateway.url)).toEqual(["pets-get_owner", "pets-list_pets"]);

    await replace("pets.json", "{ broken");
    await gateway.until(
      /pets: .*pets\.json cannot be used as an OpenAPI document: .* The tools of the old document stay\./,
    );
    await gateway.until(/Configuration reloaded: no server changed\./);
    expect(await served(gateway.url)).toEqual(["pets-get_owner", "pets-list_pets"]);

    await replace("arsenal.yaml", `openapi:\n  - { name: shops, document: ./shops.json }\n`);
    await gateway.until(/Configuration reloaded: added shops; removed pets\./);
    expect(await served(gateway.url)).toEqual(["shops-list_shops"]);

    // A document that came later is watched as well.
    await replace("shops.json", document("Shops", ["list_shops", "get_hours"]));
    await gateway.until(/Configuration reloaded: replaced shops\./);
    expect(await served(gateway.url)).toEqual(["shops-get_hours", "shops-list_shops"]);
    expect(await gateway.stop()).toBe(0);
  });

  it("puts a changed policy into force at once, and keeps the old one when the new is invalid", async () => {
    await put("pets.json", document("Pets", ["list_pets", "get_owner"]));
    await put("policy.yaml", "version: 1\nrules: []\n");
    await put("arsenal.yaml", `security: { policy_file: policy.yaml }\nopenapi:${pets()}`);
    const gateway = await serve();
    await gateway.until(/2 tools.*mode static/);
    expect(await served(gateway.url)).toHaveLength(2);
    await replace("policy.yaml", "version: 1\nrules: [{ id: owners, effect: deny, tools: [get_owner] }]\n");
    await gateway.until(/Policy reloaded: .*policy\.yaml is in force for new calls\./);
    expect(await served(gateway.url)).toEqual(["pets-list_pets"]);
    await replace("policy.yaml", "version: 1\nrules: [{ id: owners, effect: dney }]\n");
    await gateway.until(/The old policy stays in force\./);
    expect(await served(gateway.url)).toEqual(["pets-list_pets"]);
    expect(await gateway.stop()).toBe(0);
  });
});
