import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Terminal } from "../command.ts";
import { runCli } from "../run-cli.ts";

/** A server over standard streams with one tool, which says hello. */
const SERVER = `
import { createInterface } from "node:readline";
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "mini", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: process.argv[2] ?? "hello", description: "Says hello to somebody.", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "hello" }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method] ? { result: answers[method](params ?? {}) } : { error: { code: -32601, message: "no" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;

let [folder, server] = ["", ""];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-"));
  server = join(folder, "server.mjs");
  await writeFile(server, SERVER);
});
afterEach(() => rm(folder, { recursive: true }));

interface ServeProcess {
  readonly text: { out: string; err: string };
  /** Resolves when stderr has the pattern, counted from the last match. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  stop(): Promise<number>;
  readonly ended: Promise<number>;
  hangUp(): void;
}

function start(argv: readonly string[], more: Partial<Terminal> & { readonly isTTY?: boolean } = {}): ServeProcess {
  const { isTTY = false, ...place } = more;
  const text = { out: "", err: "" };
  const interrupted = new AbortController();
  const waiting = new Set<() => void>();
  const hangUps = new Set<() => void>();
  let from = 0;
  const ended = runCli(["serve", ...argv], {
    out: { write: (part) => (text.out += part), isTTY },
    err: {
      write(part) {
        text.err += part;
        for (const look of waiting) look();
      },
      isTTY,
    },
    folder,
    environment: { NO_COLOR: "1", PATH: process.env["PATH"] },
    signal: interrupted.signal,
    onHangup(listener) {
      hangUps.add(listener);
      return () => hangUps.delete(listener);
    },
    ...place,
  });
  return {
    text,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(text.err.slice(from));
          if (!found) return;
          from += found.index + found[0].length;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        void ended.then((code) => reject(new Error(`It ended with ${code}: ${text.err}`)));
        look();
      }),
    stop() {
      interrupted.abort();
      return ended;
    },
    hangUp() {
      for (const listener of hangUps) listener();
    },
  };
}

function yaml(servers: Readonly<Record<string, object>>, more = ""): string {
  return `mcpServers: ${JSON.stringify(servers)}\n${more}`;
}

const mini = (...args: readonly string[]): object => ({ command: process.execPath, args: [server, ...args] });

describe("serve without a configuration", () => {
  it("serves the demo catalog and says what to paste [000-11-serve]", async () => {
    const running = start(["--port", "0"], { isTTY: true });
    const [, url = ""] = await running.until(/Serving MCP at (http:\/\/127\.0\.0\.1:\d+)\/mcp\n/);
    await running.until(/Ctrl-C ends it/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    for (const [what, path] of [
      ["REST", "/api/v1"],
      ["Docs", "/docs"],
      ["A2A", "/a2a"],
    ] as const)
      expect(running.text.err.match(new RegExp(`^ {2}${what} +${url}${path}$`, "gm"))).toHaveLength(1);
    const pasted = [...running.text.err.matchAll(/^ {2}(.+?), \S+\n {4}(\{.*\})$/gm)];
    expect(pasted.map(([, client, json = ""]) => [client, JSON.parse(json)])).toEqual([
      [
        "Claude Desktop",
        {
          mcpServers: {
            toolarsenal: {
              command: process.execPath,
              args: [expect.stringMatching(/main\.ts$/) as string, "serve", "--stdio"],
            },
          },
        },
      ],
      ["Cursor", { mcpServers: { toolarsenal: { url: `${url}/mcp` } } }],
      ["VS Code", { servers: { toolarsenal: { type: "http", url: `${url}/mcp` } } }],
    ]);
    await running.until(
      /4\d tools; a client's list costs about \d+ tokens and each search about \d+ more, instead of [\d,]+, mode dynamic/,
    );
    expect(await running.stop()).toBe(0);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
  });

  it("writes nothing to stdout; with --json one object with the endpoint", async () => {
    const plain = start(["--port", "0"]);
    await plain.until(/Ctrl-C ends it/);
    const json = start(["--port", "0", "--json", "--mode", "static"], { isTTY: true });
    await json.until(/"tokensOfAll"/);
    expect([await plain.stop(), await json.stop(), plain.text.out]).toEqual([0, 0, ""]);
    expect(JSON.parse(json.text.out)).toEqual({
      rest: expect.stringMatching(/\d\/api\/v1$/) as string,
      docs: expect.stringMatching(/\d\/docs$/) as string,
      a2a: expect.stringMatching(/\d\/a2a$/) as string,
      ui: expect.stringMatching(/\d\/ui$/) as string,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      mcp: expect.stringMatching(/\/mcp$/) as string,
      mode: "static",
    });
  });

  it("ends when its terminal is closed", async () => {
    const running = start(["--port", "0"]);
    await running.until(/Ctrl-C ends it/);
    running.hangUp();
    expect(await running.ended).toBe(0);
  });
});

describe("serve told wrongly", () => {
  it.each([
    [["--mode", "magic"], '--mode cannot be "magic". Use one of static, dynamic, hybrid, code.'],
    [["--stdio", "--http"], "--stdio cannot be combined with --http. Use one of the two."],
    [["--stdio", "--tls-key", "k"], "--stdio cannot be combined with --tls-key. Use one of the two."],
    [["--tls-cert", "c"], "--tls-cert needs --tls-key. Give both, or set server.tls in the configuration."],
    [["--stdio", "--port", "1"], "--stdio cannot be combined with --port. Use one of the two."],
    [["--port", "99999"], '--port must be a whole number from 0 to 65535, not "99999".'],
    [["--mcp-config", "none.json"], "none.json cannot be read"],
  ])("%j exits 2 and says why", async (argv, message) => {
    const running = start(argv);
    expect(await running.ended).toBe(2);
    expect(running.text.err).toContain(message);
    expect(running.text.out).toBe("");
  });

  it("says so where the port is taken, before anything is shown", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const running = start(["--port", String(port)], { isTTY: true });
    expect(await running.ended).toBe(2);
    expect(running.text.err).toContain(`Port ${port} on 127.0.0.1 cannot be used: another program listens there.`);
    expect(running.text.out).toBe("");
    other.close();
  });

  it("does not listen beyond this machine without tokens, and asks for one where they are set", async () => {
    await writeFile(join(folder, "arsenal.yaml"), "server: { host: 0.0.0.0, port: 0 }\n");
    const open = start([]);
    expect(await open.ended).toBe(2);
    await writeFile(join(folder, "arsenal.yaml"), "server: { port: 0, tokens: { alice: '${TOKEN}' } }\n");
    const running = start([], { environment: { TOKEN: "0123456789abcdef0123" } });
    const [, url = ""] = await running.until(/Serving MCP at (\S+)\n/);
    expect(running.text.err).toContain('"headers":{"Authorization":"Bearer YOUR_TOKEN"}');
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
    const headers = { authorization: "Bearer 0123456789abcdef0123" };
    expect((await fetch(url, { method: "POST", body: "{}", headers })).status).not.toBe(401);
    await running.stop();
  });
});

describe("serve with servers", () => {
  it("tells how each fares and what they come to; one that fails or is written wrongly stops nobody [000-9.1-mcp-servers]", async () => {
    const client = join(folder, "mcp.json");
    await writeFile(client, `// of a client\n${JSON.stringify({ mcpServers: { other: mini("other") } })}`);
    const text = yaml({ good: mini(), dead: { command: "no-such-program-anywhere" }, wrong: {} });
    await writeFile(join(folder, "arsenal.yaml"), text);
    const running = start(["--port", "0", "--mcp-config", "mcp.json", "--mode", "static"]);
    const [, url = ""] = await running.until(/Serving MCP at (\S+)\/mcp\n/);
    await running.until(/2 tools, about \d+ tokens if all are listed, mode static/);
    expect(running.text.err).toContain("Left out: wrong: command is missing, and so is url. Write command:");
    expect(running.text.err).toContain("good: connected, 1 tool (2025-11-25)\n");
    expect(running.text.err).toContain("other: connected, 1 tool (2025-11-25)\n");
    expect(running.text.err).toMatch(/dead: failed: .*was not found.*; next attempt in \d+ s\n/);
    expect(running.text.err).toContain(JSON.stringify(["--mcp-config", client]).slice(1, -1));
    let ready = await fetch(`${url}/readyz`);
    while (ready.status === 503) ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      {
        upstreams: {
          good: "connected",
          dead: expect.stringMatching(/failed|connecting/) as string,
          other: "connected",
        },
      },
    ]);
    expect(await running.stop()).toBe(0);
  });

  it("reads modules once: a changed module is in force after a restart", async () => {
    const [file, module] = [join(folder, "arsenal.yaml"), join(folder, "greeting.mjs")];
    await writeFile(module, 'export default (a) => a.register({ name: "hi", description: "Greets." }, () => 1);');
    await writeFile(file, yaml({ a: mini() }, "modules: [greeting.mjs]\n"));
    const running = start(["--port", "0"]);
    await running.until(/2 tools, /);
    await writeFile(module, 'throw new Error("read again");');
    await writeFile(file, yaml({ a: mini(), b: mini() }, "modules: [greeting.mjs]\n"));
    await running.until(/3 tools, /);
    expect(running.text.err).not.toContain("read again");
    expect(await running.stop()).toBe(0);
  });

  it("follows its files: touches only what changed, and keeps the old where the new is invalid", async () => {
    const file = join(folder, "arsenal.yaml");
    const rewrite = async (text: string): Promise<void> => {
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
    };
    await rewrite(yaml({ a: mini(), b: mini() }));
    const running = start(["--port", "0"]);
    await running.until(/2 tools, /);
    await rewrite(yaml({ a: mini(), b: mini("changed"), c: mini() }, "execution: { max_retries: 1 }\n"));
    await running.until(/Configuration reloaded: added c; replaced b\.\n/);
    await running.until(/in force after a restart: execution\.\n/);
    await running.until(/3 tools, /);
    expect(running.text.err.match(/^a: connected/gm)).toHaveLength(1);
    expect(running.text.err.match(/^b: connected/gm)).toHaveLength(2);
    await rewrite("mcpServers: {\n");
    await running.until(
      /arsenal\.yaml:\d+:\d+ yaml: .*\nThe configuration was not reloaded: the old one stays in force\.\n/,
    );
    for (const nothing of ["", "\n", "# nothing yet\n", "---\n"]) {
      await rewrite(nothing);
      await running.until(
        /arsenal\.yaml is empty\. The configuration was not reloaded: the old one stays in force\.\n/,
      );
    }
    await rewrite(yaml({ c: mini() }, "execution: { max_retries: 1 }\n"));
    await running.until(/Configuration reloaded: removed a, b\.\n/);
    running.hangUp();
    await running.until(/Configuration reloaded: no server changed\.\n/);
    await running.until(/1 tool, /);
    expect(await running.stop()).toBe(0);
  });
});

describe("serve with env files", () => {
  it("connects a server again when its env file changes", async () => {
    await writeFile(join(folder, "mini.env"), "TOKEN=one\n");
    await writeFile(join(folder, "arsenal.yaml"), yaml({ mini: { ...mini(), envFile: "mini.env" } }));
    const running = start(["--port", "0"]);
    await running.until(/mini: connected, 1 tool/);
    await running.until(/mode dynamic/);
    await writeFile(join(folder, "mini.env"), "TOKEN=two\n");
    await running.until(/Configuration reloaded: replaced mini\./);
    await running.until(/mini: connected, 1 tool/);
    expect(await running.stop()).toBe(0);
  });
});

describe("serve with ensembles", () => {
  it("reports a TOML file that is invalid at the start, and an invalid edit later", async () => {
    const file = join(folder, "io.toml");
    await writeFile(join(folder, "arsenal.yaml"), "ensembles: [./io.toml]\n");
    await writeFile(file, '[ensemble]\nname = = "io"\n');
    const running = start(["--port", "0"], { isTTY: true });
    await running.until(/io\.toml: failed: .*io\.toml:2:8: invalid TOML/);
    await writeFile(file, "[ensemble]\nname = 5\n");
    await running.until(/error: .*io\.toml:2: ensemble\.name/);
    expect(await running.stop()).toBe(0);
  });
});

describe("serve --toolset", () => {
  const config = (): string =>
    yaml(
      { good: mini("greet"), other: mini("wave") },
      "toolsets: [{ name: greeters, include: { namespaces: [good] } }]",
    );

  it("serves that toolset and nothing else, and says so", async () => {
    await writeFile(join(folder, "arsenal.yaml"), config());
    const running = start(["--port", "0", "--mode", "static", "--toolset", "greeters"]);
    const [, url = ""] = await running.until(/Serving the toolset greeters over MCP at (\S+)\/mcp\n/);
    expect(running.text.err).toContain('"serve","--stdio","--toolset","greeters"');
    await running.until(/\b1 tool, about \d+ tokens if all are listed, mode static/);
    const call = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: META } };
    const response = await fetch(`${url}/mcp`, { method: "POST", headers: HEADERS, body: JSON.stringify(call) });
    expect(await response.json()).toMatchObject({ result: { tools: [{ name: "good-greet" }] } });
    expect((await fetch(`${url}/mcp/upstreams/other`)).status).toBe(404);
    expect(await running.stop()).toBe(0);
  });

  const META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const HEADERS = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
  };

  it.each([["--port", "0"], ["--stdio"]])("ends with 1 if there is no such toolset, with %s", async (...argv) => {
    await writeFile(join(folder, "arsenal.yaml"), config());
    const [input, output] = [new PassThrough(), new PassThrough()];
    const running = start([...argv, "--toolset", "greeter"], { protocol: { input, output } });
    expect(await running.ended).toBe(1);
    expect(running.text.err).toContain('There is no toolset "greeter". Did you mean "greeters"?');
  });
});

describe("serve --stdio", () => {
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };

  it("answers its client and ends well when the client leaves, also at a terminal", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const running = start(["--stdio"], { protocol: { input, output }, isTTY: true });
    input.write(`${JSON.stringify(initialize)}\n`);
    const [line] = (await once(output, "data")) as [Buffer];
    expect(JSON.parse(line.toString())).toMatchObject({ id: 1, result: { protocolVersion: "2025-06-18" } });
    input.end();
    expect(await running.ended).toBe(0);
    expect(running.text.out).toBe("");
  });

  it.each([
    ["its client leaves", "leave"],
    ["it is told to end", "SIGTERM"],
    ["Ctrl-C is pressed", "SIGINT"],
  ] as const)(
    "as a process has nothing but protocol on stdout, and takes its servers along when %s [000-7.2-stdio-server]",
    async (_when, how) => {
      await writeFile(join(folder, "arsenal.yaml"), yaml({ good: mini(), wrong: {} }));
      const main = fileURLToPath(new URL("../main.ts", import.meta.url));
      const child = spawn(process.execPath, [main, "serve", "--stdio"], { cwd: folder });
      let [out, err] = ["", ""];
      child.stdout.on("data", (part: Buffer) => (out += part.toString()));
      const connected = new Promise<void>((resolve) => {
        child.stderr.on("data", (part: Buffer) => {
          err += part.toString();
          if (err.includes("mode dynamic")) resolve();
        });
      });
      child.stdin.write(`${JSON.stringify(initialize)}\n`);
      await connected;
      if (how === "leave") child.stdin.end();
      else child.kill(how);
      const [code] = (await once(child, "close")) as [number | null];
      expect([code, err]).toEqual([0, expect.stringContaining("good: connected, 1 tool")]);
      const messages = out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { readonly jsonrpc: string });
      expect(messages.length).toBeGreaterThan(0);
      expect(messages.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    },
  );
});
