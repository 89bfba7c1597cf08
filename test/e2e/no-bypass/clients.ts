import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { MAIN } from "../../kit/program.ts";

const INFO = { name: "client", version: "1.0.0" };

/** A client of one era over HTTP. */
export async function httpClient(
  era: "legacy" | "modern",
  url: string,
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client(INFO, era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {});
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

/** A client of the transport before the last. */
export async function sseClient(url: string): Promise<Client> {
  const client = new Client(INFO);
  await client.connect(new SSEClientTransport(new URL(url)));
  return client;
}

/** A client that starts the gateway itself and talks to it over standard streams. */
export async function stdioClient(args: readonly string[], cwd: string): Promise<Client> {
  const client = new Client(INFO);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "serve", "--stdio", ...args],
    cwd,
    env: { ...(process.env as Record<string, string>), TOOLARSENAL_TIER: "lexical" },
    stderr: "ignore",
  });
  await client.connect(transport);
  return client;
}
