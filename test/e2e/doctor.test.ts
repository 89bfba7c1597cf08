import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/run-cli.ts";
import { type Ran, runInMemory } from "./terminal.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "arsenal-doctor-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, text: string | object): void =>
  writeFileSync(join(folder, name), typeof text === "string" ? text : JSON.stringify(text));

const environment = { NO_COLOR: "1" };
const doctor = (...argv: readonly string[]): Promise<Ran> => runInMemory(["doctor", ...argv], { folder, environment });

/** A document whose operations need a key. */
const PETS = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "1" },
  servers: [{ url: "https://pets.example.com" }],
  security: [{ petKey: [] }],
  paths: {
    "/pets": {
      get: { operationId: "list_pets", summary: "List the pets", responses: { "200": { description: "Fine" } } },
      post: { operationId: "add_pet", summary: "Add a pet", responses: { "200": { description: "Fine" } } },
    },
  },
  components: { securitySchemes: { petKey: { type: "apiKey", in: "header", name: "X-Pet-Key" } } },
};

describe("a state in which serve does not start", () => {
  const states: readonly (readonly [name: string, config: object, message: string])[] = [
    ["is open to other machines", { server: { host: "0.0.0.0", port: 0 } }, "Listening on 0.0.0.0 lets other machines"],
    ["has a short token", { server: { port: 0, tokens: { ada: "short" } } }, "is shorter than 16 characters"],
    [
      "has a public URL below one of its own paths",
      { server: { port: 0, public_url: "https://tools.example.com/mcp" } },
      "which the gateway uses itself",
    ],
    [
      "lacks the file of its keys",
      { server: { port: 0, auth: { api_keys: { file: "none.json" } } } },
      "cannot be read",
    ],
    ["lacks its certificate", { server: { port: 0, tls: { cert: "c.pem", key: "k.pem" } } }, "c.pem"],
    ["lacks its authorities", { server: { port: 0 }, egress: { ca_file: "ca.pem" } }, "egress.ca_file cannot be read"],
  ];

  it.each(states)("that %s is a failure of doctor, with the same words", async (_name, config, message) => {
    put("arsenal.yaml", config);
    const served = await runInMemory(["serve"], { folder, environment });
    const { code, out } = await doctor();
    expect([served.code, code]).toEqual([2, 1]);
    const [line = ""] = out.split("\n").filter((each) => each.startsWith("failed"));
    expect(line).toContain(message);
    expect(served.err).toContain(line.slice(line.indexOf(": ") + 2));
  });

  it("is a port that another program has: its own, that of metrics, or that of the agent", async () => {
    await using taken = createServer();
    taken.listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const own = "Stop that program, or set server.port to another port.";
    const configs = {
      [own]: { server: { port } },
      "set telemetry.prometheus_port": {
        server: { port: 0 },
        telemetry: { expose_prometheus: true, prometheus_port: port },
      },
      "set a2a.a2a_port": { server: { port: 0 }, a2a: { serve_a2a: true, a2a_port: port } },
    };
    for (const [fix, config] of Object.entries(configs)) {
      put("arsenal.yaml", config);
      const { code, out } = await doctor();
      expect(code).toBe(1);
      expect(out).toContain(
        `failed   server: Port ${port} on 127.0.0.1 cannot be used: another program listens there.\n`,
      );
      expect(out).toContain(fix);
      expect((await doctor("--running")).code).toBe(0);
      expect((await runInMemory(["serve"], { folder, environment })).code).toBe(2);
    }
  });
});

describe("a state in which calls fail", () => {
  it("is an API whose scheme no credential satisfies, or one of another kind", async () => {
    put("pets.json", PETS);
    const document = "./pets.json";
    const basic = { petKey: { username: "ada", password: "env:HOME" } };
    put("arsenal.yaml", {
      server: { port: 0 },
      openapi: [
        { name: "pets", document },
        { name: "zoo", document, credentials: basic },
        { name: "home", document, credentials: { petKey: "env:PET_KEY" } },
      ],
    });
    const { code, out } = await runInMemory(["doctor"], {
      folder,
      environment: { PET_KEY: "k".repeat(20), HOME: "/" },
    });
    expect(code).toBe(1);
    expect(out).toContain(
      "failed   pets: A call needs credentials: petKey (key in the header X-Pet-Key). 2 operations, such as GET /pets, cannot be called.\n         Set credentials.petKey.",
    );
    expect(out).toContain("failed   zoo: credentials.petKey has a username, but petKey is not HTTP Basic.");
    expect(out).toMatch(/ok {7}home: 2 tools/);
  });

  it("is a document that names no server, a folder for files that is missing, and a secret that is not set", async () => {
    const { servers: _servers, security: _security, ...document } = PETS;
    put("arsenal.yaml", {
      server: { port: 0 },
      openapi: [{ name: "pets", document }],
      builtins: { tools: ["file-write"], files: { roots: ["./work"] } },
      a2a: { signing_key: "env:CARD_KEY" },
      security: { approval_webhook: { url: "https://example.com/hook", secret: "env:HOOK_SECRET" } },
    });
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toContain("failed   pets: The document of pets names no server.");
    expect(out).toContain(`failed   files: ${join(folder, "work")} is open to tools, but is not a folder`);
    expect(out).toMatch(
      /failed {3}secrets: a2a\.signing_key .*env:CARD_KEY: the variable is not set\.\n +Set CARD_KEY\./,
    );
    expect(out).toMatch(/failed {3}secrets: security\.approval_webhook\.secret .*env:HOOK_SECRET/);
  });

  it("is each of several sources that fail for the same reason", async () => {
    const document = "http://127.0.0.1:1/openapi.json";
    put("arsenal.yaml", {
      server: { port: 0 },
      openapi: [
        { name: "pets", document },
        { name: "zoo", document },
      ],
    });
    const { code, out } = await doctor();
    expect([code, out.match(/^failed {3}\w+: .*ECONNREFUSED/gm)?.length]).toEqual([1, 2]);
  });

  it("is a server that accepts the connection and does not answer", async () => {
    const sockets: Socket[] = [];
    await using silent = createServer((socket) => void sockets.push(socket));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`;
    put("arsenal.yaml", { server: { port: 0 }, mcpServers: { files: { url, connect_timeout_ms: 1_000 } } });
    const { code, out } = await doctor();
    for (const socket of sockets) socket.destroy();
    expect([code, out]).toEqual([
      1,
      expect.stringContaining(
        'failed   files: connecting the MCP server "files" took longer than 1000 ms. Check that it runs and answers at its url, or raise its connect_timeout_ms.\n',
      ),
    ]);
  });

  it("is a rule that reads an attribute that does not exist; one that matches nothing is a warning", async () => {
    put("policy.yaml", {
      version: 1,
      rules: [
        { id: "own-tenant", effect: "deny", when: "principal.tennant != 'acme'" },
        { id: "payroll", effect: "deny", tools: ["payroll.*"] },
      ],
    });
    mkdirSync(join(folder, "work"));
    put("arsenal.yaml", {
      server: { port: 0 },
      security: { policy_file: "policy.yaml" },
      builtins: { tools: ["file-read"], files: { roots: ["./work"] } },
    });
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toContain("failed   rule own-tenant: reads principal.tennant, which does not exist");
    expect(out).toContain("Did you mean principal.tenant?");
    expect(out).toContain("warning  rule payroll: matches no tool with payroll.*");
  });
});

describe("the audit log", () => {
  it("is written and verified, with a record that names doctor", async () => {
    put("arsenal.yaml", { server: { port: 0 }, audit: { file: "audit.jsonl" } });
    const { code, out } = await doctor();
    expect([code, out]).toEqual([0, expect.stringMatching(/ok {7}audit: a record was written; \d records? verified/)]);
    const tail = await runInMemory(["audit", "tail", "--json"], { folder, environment });
    const records = tail.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(records).toContainEqual(
      expect.objectContaining({ kind: "operator-action", action: "doctor", outcome: "done", by: "local" }),
    );
    expect((await runInMemory(["audit", "verify"], { folder, environment })).code).toBe(0);
  });

  it("fails if it cannot be written, was changed, or others can read its key; serve reports it too", async () => {
    put("arsenal.yaml", { server: { port: 0 }, audit: { file: "audit.jsonl" } });
    const file = join(folder, "audit.jsonl");
    await doctor();
    writeFileSync(file, readFileSync(file, "utf8").replace('"doctor"', '"nobody"'));
    const changed = await doctor();
    expect([changed.code, changed.out]).toEqual([
      1,
      expect.stringMatching(/failed {3}audit: the log was changed at record \d/),
    ]);
    chmodSync(`${file}.key`, 0o644);
    const open = await doctor();
    expect([open.code, open.out]).toEqual([
      1,
      expect.stringContaining(`failed   audit: The audit key ${file}.key can be`),
    ]);
    expect(open.out).toContain(`Run: chmod 600 ${file}.key`);
    rmSync(file);
    rmSync(`${file}.key`);
    mkdirSync(file);
    const unwritable = await doctor();
    expect([unwritable.code, unwritable.out]).toEqual([
      1,
      expect.stringMatching(/failed {3}audit: .* cannot be written/),
    ]);
    expect(await warned("audit: The audit log")).toContain("cannot be written");
  });
});

describe("serve", () => {
  it("warns of what doctor finds in toolsets and rules, and starts", async () => {
    mkdirSync(join(folder, "work"));
    put("arsenal.yaml", {
      server: { port: 0 },
      builtins: { tools: ["file-read"], files: { roots: ["./work"] } },
      security: { deny: ["drop_table"] },
      toolsets: [{ name: "reading", include: { tools: ["builtin.file_read", "builtin.file_list"] } }],
    });
    const printed = await warned("rule security.deny");
    expect(printed).toContain("toolset reading: names builtin.file_list, which no tool has\n");
    expect(printed).toContain("rule security.deny: matches no tool with drop_table\n");
  });
});

/** What serve printed, once it printed a text. */
async function warned(text: string): Promise<string> {
  const stop = new AbortController();
  let printed = "";
  await runCli(["serve", "--port", "0"], {
    out: { write: () => {} },
    err: {
      write(part) {
        printed += part;
        if (printed.includes(text)) stop.abort();
      },
    },
    folder,
    environment,
    signal: stop.signal,
  });
  return printed;
}

describe("in strict mode", () => {
  it("doctor knows tools that the policy hides from the operator, and toolsets for other roles", async () => {
    mkdirSync(join(folder, "work"));
    put("policy.yaml", { version: 1, mode: "strict", rules: [{ id: "none", effect: "allow", tools: ["x.*"] }] });
    put("arsenal.yaml", {
      server: { port: 0 },
      security: { policy: "strict", pins: "changes", policy_file: "policy.yaml" },
      builtins: { tools: ["file-read"], files: { roots: ["./work"] } },
      toolsets: [{ name: "reading", include: { tools: ["builtin.file_read"] }, policy: { allowed_roles: ["reader"] } }],
    });
    const { out } = await doctor();
    expect(out).toContain("ok       toolset reading: 1 tool\n");
    expect(out).not.toContain("which no tool has");
  });
});
