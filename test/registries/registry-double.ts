import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A version of a server as the double keeps it. */
export interface DoubleEntry {
  readonly server: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
  readonly status?: "active" | "deprecated" | "deleted";
  readonly statusMessage?: string;
  readonly updatedAt?: string;
}

/** A registry with the MCP registry's API, version 0.1, on loopback. */
export interface RegistryDouble {
  readonly url: string;
  /** Newest version first, by the server's name. */
  readonly servers: Map<string, DoubleEntry[]>;
  readonly asked: string[];
  /** Answers every request in place of the API while it is set. */
  instead?: ((request: IncomingMessage) => { readonly status: number; readonly body: string } | "silence") | undefined;
  publish(entry: DoubleEntry): void;
  close(): Promise<void>;
}

const TIME = "2026-01-02T03:04:05Z";
const META = "io.modelcontextprotocol.registry/official";

/** The reason why a list cannot be asked for like this. */
function listProblem(query: URLSearchParams): string | undefined {
  if (!/^[1-9]\d*$/.test(query.get("limit") ?? "30")) return "limit must be a number from 1";
  if (!/^\d+$/.test(query.get("cursor") ?? "0")) return "cursor is none of this registry";
  if (Number.isNaN(Date.parse(query.get("updated_since") ?? TIME))) return "updated_since must be a time";
  return undefined;
}

/** Starts the double with these entries. */
export async function startRegistry(entries: readonly DoubleEntry[] = []): Promise<RegistryDouble> {
  const servers = new Map<string, DoubleEntry[]>();
  const asked: string[] = [];
  const publish = (entry: DoubleEntry): void =>
    void servers.set(entry.server.name, [entry, ...(servers.get(entry.server.name) ?? [])]);
  for (const entry of entries) publish(entry);
  const toAnswer = (entry: DoubleEntry, index: number): object => ({
    server: entry.server,
    _meta: {
      [META]: {
        status: entry.status ?? "active",
        ...(entry.statusMessage !== undefined && { statusMessage: entry.statusMessage }),
        publishedAt: TIME,
        updatedAt: entry.updatedAt ?? TIME,
        isLatest: index === 0,
      },
    },
  });
  const isShown = (entry: DoubleEntry, query: URLSearchParams): boolean =>
    entry.status !== "deleted" || query.get("include_deleted") === "true" || query.has("updated_since");
  const http = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://registry");
    asked.push(url.pathname + url.search);
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const other = double.instead?.(request);
    if (other === "silence") return;
    if (other !== undefined) return void response.writeHead(other.status).end(other.body);
    const [, version, collection, name = "", versions, wanted, ...rest] = url.pathname
      .split("/")
      .map(decodeURIComponent);
    const query = url.searchParams;
    if (request.method !== "GET")
      return send(request.method === "PATCH" ? 403 : 501, { error: "This registry takes no changes" });
    if (version !== "v0.1" || collection !== "servers" || rest.length > 0) return send(404, { error: "Not found" });
    if (name === "") {
      const problem = listProblem(query);
      if (problem !== undefined) return send(400, { error: problem });
      const [since, words] = [query.get("updated_since"), query.get("search")?.toLowerCase() ?? ""];
      const which = query.get("version");
      const shown = [...servers.values()]
        .flatMap((all) => all.map((each, at) => ({ each, at })))
        .filter(
          ({ each, at }) =>
            isShown(each, query) &&
            (which === null || which === "latest" ? at === 0 : each.server.version === which) &&
            each.server.name.toLowerCase().includes(words) &&
            (since === null || Date.parse(each.updatedAt ?? TIME) >= Date.parse(since)),
        );
      const limit = Math.min(Number(query.get("limit") ?? 30), 100);
      const start = Number(query.get("cursor") ?? 0);
      const page = shown.slice(start, start + limit);
      const next = start + limit < shown.length ? { nextCursor: String(start + limit) } : {};
      const metadata = { count: page.length, ...next };
      return send(200, { servers: page.map(({ each, at }) => toAnswer(each, at)), metadata });
    }
    const all = servers.get(name);
    if (all === undefined || versions !== "versions") return send(404, { error: "Server not found" });
    const shown = all.flatMap((each, at) => (isShown(each, query) ? [toAnswer(each, at)] : []));
    if (wanted === undefined) return send(200, { servers: shown, metadata: { count: shown.length } });
    const at = wanted === "latest" ? 0 : all.findIndex((each) => each.server.version === wanted);
    const entry = all[at];
    if (entry === undefined || !isShown(entry, query)) return send(404, { error: "Server not found" });
    return send(200, toAnswer(entry, at));
  });
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
  const double: RegistryDouble = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    servers,
    asked,
    publish,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => void http.close(resolve));
    },
  };
  return double;
}

const TOPICS: readonly (readonly [name: string, description: string])[] = [
  ["weather", "Weather forecasts and storm warnings for any city"],
  ["invoices", "Create, send and reconcile invoices and refunds"],
  ["calendar", "Find free slots and schedule meetings"],
  ["tickets", "Search, file and triage issues of a bug tracker"],
  ["maps", "Routes, distances and places on a map"],
  ["database", "Run read-only SQL queries on a warehouse"],
  ["mail", "Read, sort and answer electronic mail"],
  ["images", "Resize, crop and describe pictures"],
];

/** Entries of the shapes that the official registry has: packages of every kind, addresses, inputs, several versions. */
export function generateEntries(count: number): readonly DoubleEntry[] {
  return Array.from({ length: count }, (_, index): DoubleEntry => {
    const [topic = "", description = ""] = TOPICS[index % TOPICS.length] ?? [];
    const team = `team${index}`;
    const name = `io.github.${team}/${topic}-${index}`;
    const version = `1.${index % 5}.0`;
    const kinds: readonly object[] = [
      { registryType: "npm", identifier: `@${team}/${topic}-mcp`, version, transport: { type: "stdio" } },
      {
        registryType: "pypi",
        identifier: `${topic}-mcp-${index}`,
        version,
        runtimeHint: "uvx",
        transport: { type: "stdio" },
      },
      { registryType: "oci", identifier: `ghcr.io/${team}/${topic}:${version}`, transport: { type: "stdio" } },
      { registryType: "nuget", identifier: `Team${index}.${topic}`, version, transport: { type: "stdio" } },
      {
        registryType: "mcpb",
        identifier: `https://github.com/${team}/${topic}/releases/download/v${version}/${topic}.mcpb`,
        fileSha256: index.toString(16).padStart(64, "0"),
        transport: { type: "stdio" },
      },
    ];
    const remote = {
      type: "streamable-http",
      url: `https://${topic}.team${index}.example.com/mcp`,
      headers: [
        {
          name: "Authorization",
          value: "Bearer {token}",
          isSecret: true,
          variables: { token: { isRequired: true, isSecret: true } },
        },
      ],
    };
    return {
      server: {
        $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        name,
        description: `${description} (variant ${index})`,
        ...(index % 3 === 0 && { title: `${topic} ${index}` }),
        ...(index % 2 === 0 && { repository: { url: `https://github.com/${team}/${topic}`, source: "github" } }),
        version,
        ...(index % 6 === 5 ? { remotes: [remote] } : { packages: [kinds[index % 6]] }),
      },
      ...(index % 20 === 19 && { status: "deprecated" as const, statusMessage: "Use another one" }),
    };
  });
}
