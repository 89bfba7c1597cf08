import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type GatewayProcess, startGateway } from "../../test/e2e/gateway-process.ts";
import { peerProgram } from "../../test/peers/peers.ts";
import type { ClientKind } from "./wire-client.ts";

/** A server with the echo tool. */
export interface Contender {
  readonly name: string;
  /** The upstream behind it; none for the server itself. */
  readonly upstream: "none" | "stdio" | "http";
  readonly client: ClientKind;
  readonly url: string;
  readonly pid: number;
}

/** All contenders, started. */
export interface Contenders {
  readonly list: readonly Contender[];
  readonly commands: readonly string[];
  close(): Promise<void>;
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ECHO = fileURLToPath(new URL("./echo-server.ts", import.meta.url));
/** The addresses of our gateway, and the kinds of client that call them. */
const PLACES: readonly (readonly [string, ClientKind])[] = [
  ["/mcp/upstreams/echo", "legacy"],
  ["/mcp/upstreams/echo", "modern"],
  ["/mcp", "legacy"],
  ["/mcp", "modern"],
  ["/sse", "sse"],
];
const KINDS = ["legacy", "modern"] as const;

/** Settings without limits, so that our gateway's own limits are not measured. */
const UNLIMITED = {
  security: { max_requests_per_minute: 1_000_000 },
  execution: { max_concurrent: 1000 },
};

/** Starts the echo server, our gateway in front of it and both peers in front of it. `programs` are our gateway's entry files by name. */
export async function startContenders(programs: Readonly<Record<string, string>>): Promise<Contenders> {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-bench-"));
  const children: ChildProcess[] = [];
  const commands: string[] = [];
  const stdio = { command: process.execPath, args: [ECHO, "stdio"] };

  function start(label: string, args: readonly string[]): ChildProcess {
    commands.push(`${label}: node ${args.join(" ").replaceAll(process.execPath, "node").replaceAll(ROOT, "")}`);
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    child.stderr?.resume();
    children.push(child);
    return child;
  }

  const direct = start("direct", [ECHO, "http"]);
  const [first] = (await once(direct.stdout ?? direct, "data")) as [Buffer];
  const http = { type: "http", url: first.toString().trim() } as const;

  const ours: { name: string; upstream: "stdio" | "http"; gateway: GatewayProcess }[] = [];
  for (const [upstream, server] of [
    ["stdio", stdio],
    ["http", http],
  ] as const) {
    for (const [name, program] of Object.entries(programs)) {
      const gateway = await startGateway({
        tier: "lexical",
        servers: { echo: server },
        mode: "static",
        settings: UNLIMITED,
        program,
      });
      ours.push({ name, upstream, gateway });
    }
  }
  for (const [name, program] of Object.entries(programs)) {
    const file = program.replace(ROOT, "");
    commands.push(`${name}: node ${file} serve --http --port 0 --mode static --config arsenal.yaml`);
  }

  const proxyPort = await freePort();
  const proxy = peerProgram("mcp-proxy");
  const proxyArgs = ["--port", String(proxyPort), "--host", "127.0.0.1", "--", stdio.command, ...stdio.args];
  const proxied = start(`mcp-proxy ${proxy.version}`, [proxy.file, ...proxyArgs]);

  const hub = peerProgram("mcp-hub");
  const hubs = [];
  for (const [upstream, server] of [
    ["stdio", stdio],
    ["http", { url: http.url }],
  ] as const) {
    const config = join(folder, `hub-${upstream}.json`);
    writeFileSync(config, JSON.stringify({ mcpServers: { echo: server } }));
    const port = await freePort();
    const child = start(`mcp-hub ${hub.version}`, [hub.file, "--port", String(port), "--config", config]);
    hubs.push({ upstream, port, child });
  }
  for (const { stdout } of children) stdout?.resume();
  await Promise.all([proxyPort, ...hubs.map(({ port }) => port)].map(listening));

  const list: Contender[] = [
    ...KINDS.map((client) => ({
      name: "direct",
      upstream: "none" as const,
      client,
      url: http.url,
      pid: pidOf(direct),
    })),
    // Each place of one version right before the same place of the other: what slows the machine slows both.
    ...(["stdio", "http"] as const).flatMap((upstream) =>
      PLACES.flatMap(([path, client]) =>
        ours
          .filter((entry) => entry.upstream === upstream)
          .map(({ name, gateway: { url, pid } }) => ({
            name: `${name} ${path}`,
            upstream,
            client,
            url: url + path,
            pid,
          })),
      ),
    ),
    ...KINDS.map((client) => ({
      name: "mcp-proxy",
      upstream: "stdio" as const,
      client,
      url: `http://127.0.0.1:${proxyPort}/mcp`,
      pid: pidOf(proxied),
    })),
    // It serves MCP clients only over HTTP+SSE.
    ...hubs.map(({ upstream, port, child }) => ({
      name: "mcp-hub",
      upstream,
      client: "sse" as const,
      url: `http://127.0.0.1:${port}/mcp`,
      pid: pidOf(child),
    })),
  ];
  return {
    list,
    commands,
    async close() {
      await Promise.all(ours.map(({ gateway }) => gateway.close()));
      for (const child of children) child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error(`${child.spawnargs.join(" ")} did not start`);
  return child.pid;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Waits until something answers HTTP at the port. */
export async function listening(port: number): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/health`);
      await response.body?.cancel();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
