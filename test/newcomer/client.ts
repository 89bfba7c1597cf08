import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** A line that `serve` prints once it answers. */
export const SERVING = /http:\/\/127\.0\.0\.1:\d+\/mcp/;

/** Connects to the gateway whose output this is, with a key if one is given. */
export async function connectTo(printed: string, key?: string): Promise<Client> {
  const client = new Client({ name: "newcomer", version: "1.0.0" });
  const requestInit = key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(SERVING.exec(printed)?.[0] ?? ""), { requestInit }));
  return client;
}

export function textOf(result: unknown): string {
  const { content } = result as { readonly content: readonly { readonly text?: string }[] };
  return content.map(({ text = "" }) => text).join("\n");
}
