import { describe, expect, it } from "vitest";
import { files, read } from "./project.ts";

/** Modules that can open a connection. */
const NETWORK = /^(?:node:)?(?:https?|http2|net|tls|dgram|dns(?:\/promises)?)$/;
const NETWORK_PACKAGES: ReadonlySet<string> = new Set(["ws"]);

/** What of them opens none. */
const HARMLESS: ReadonlySet<string> = new Set(["isIP", "isIPv4", "isIPv6", "STATUS_CODES", "validateHeaderValue"]);

/** Files outside of guard/egress that need more, and why. */
const EXCEPTIONS: Readonly<Record<string, { readonly names: readonly string[]; readonly because: string }>> = {
  "src/serve/http/http-server.ts": { names: ["createServer"], because: "it listens for clients" },
  "src/serve/http/listening.ts": { names: ["createServer"], because: "it listens for clients" },
  "src/adapters/sources/mcp/oauth/redirect-listener.ts": {
    names: ["createServer"],
    because: "it listens on loopback for a person's browser",
  },
  "src/adapters/sinks/datadog.ts": {
    names: ["createSocket"],
    because: "it sends metrics by UDP to the Agent that the operator names, and reads no answer",
  },
  "src/client/http.ts": {
    names: ["fetch"],
    because: "it calls the gateway that its user names, also from browsers, where there is no egress guard",
  },
};

const IMPORT = /^import\s+(?<type>type\s+)?(?<what>[^;"']+?)\s+from\s+["'](?<from>[^"']+)["']/gm;
const OTHER_IMPORT = /\b(?:import|require|getBuiltinModule)\(\s*["'](?<from>[^"']+)["']\s*\)?(?:\.(?<name>\w+))?/g;

/** Names by which a module of Node is imported to be used. */
function importedNames(what: string): readonly string[] {
  const named = /^\{(?<names>[^}]*)\}$/.exec(what.trim())?.groups?.["names"];
  if (named === undefined) return [what.trim()];
  const names = named.split(",").map((name) => name.trim());
  return names
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(/\s+as\s+/)[0] ?? "");
}

/** Code without comments and without what stands in quotes. */
function bare(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/(?<=^|\s)\/\/.*$/gm, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""')
    .replaceAll(/`[^`]*`/g, (quoted) => [...quoted.matchAll(/\$\{[^}]*\}/g)].join(" "));
}

/** True where the file has a `fetch` of its own: a constant, a parameter, or a part it was given. */
const OWN_FETCH = /\bconst fetch\b|\bfetch: FetchLike\b|\{[^{}]*\bfetch\b[^{}]*\}: \w+/;

/** True where the file gives `ws` a connection of guard/egress. The system's own WebSocket takes none, so it must be that of `ws`. */
const OWN_SOCKET = /\bconst \{ WebSocket \} = await import\(""\);[\s\S]*\bcreateConnection: \(\) => egress\.connect\(/;

/** Patterns of text, in which the word is no code. */
const PATTERNS = "src/guard/scan/rules/";

/** How a file goes out by another way than guard/egress. */
function waysAround(path: string, text: string): readonly string[] {
  const allowed = new Set([...HARMLESS, ...(EXCEPTIONS[path]?.names ?? [])]);
  const found: string[] = [];
  for (const { groups: { type, what = "", from = "" } = {} } of text.matchAll(IMPORT)) {
    if (type !== undefined || !(NETWORK.test(from) || NETWORK_PACKAGES.has(from))) continue;
    for (const name of importedNames(what)) if (!allowed.has(name)) found.push(`imports ${name} of ${from}`);
  }
  for (const { groups: { from = "", name = "" } = {} } of text.matchAll(OTHER_IMPORT))
    if (NETWORK.test(from) && !allowed.has(name)) found.push(`loads ${from}`);
  const code = bare(text);
  const usesFetch = /(?<![.\w$])fetch(?=\s*\(|\s*[,;)}]|\s*$)/m.test(code);
  if (usesFetch && !allowed.has("fetch") && !OWN_FETCH.test(code) && !path.startsWith(PATTERNS))
    found.push("uses the global fetch");
  if (/globalThis\s*(?:\.\s*(?:fetch|WebSocket|EventSource)\b|\[)/.test(code)) found.push("reaches for a global");
  for (const [, name] of code.matchAll(/\bnew\s+(WebSocket|EventSource|WebSocketStream|XMLHttpRequest)\b/g))
    if (name !== "WebSocket" || !OWN_SOCKET.test(code)) found.push(`makes a ${name}`);
  for (const [, name, rest] of code.matchAll(/\bnew\s+(\w+ClientTransport)\(([\s\S]*?)(?:;|$)/g))
    if (!/\bfetch\b/.test(rest ?? "")) found.push(`gives ${name} no fetch`);
  if (/\bauth\(\s*client\b/.test(code) && !/\bfetchFn\b/.test(code)) found.push("gives auth no fetchFn");
  if (/\bcreateRemoteJWKSet\b/.test(code)) found.push("lets jose fetch keys by itself");
  return found.map((way) => `${path} ${way}: go through guard/egress, or say in EXCEPTIONS why not`);
}

const modules = files("src/**/*.ts").filter(
  (path) => !path.endsWith(".test.ts") && !path.startsWith("src/guard/egress/"),
);

describe("the way out of the program", () => {
  it("is guard/egress for every module", () => {
    expect(modules.length).toBeGreaterThan(100);
    expect(modules.flatMap((path) => waysAround(path, read(path)))).toEqual([]);
  });

  it("has no exception that nothing needs", () => {
    const unused = Object.entries(EXCEPTIONS).filter(([path, { names }]) => {
      const text = modules.includes(path) ? read(path) : "";
      const uses = (name: string): RegExp =>
        name === "fetch"
          ? /\?\? fetch\b/
          : new RegExp(
              `import \\{[^}]*\\b${name}\\b[^}]*\\} from "node:|getBuiltinModule\\("node:\\w+"\\)\\.${name}\\b`,
            );
      return names.some((name) => !uses(name).test(text));
    });
    expect(unused).toEqual([]);
  });

  it.each([
    'import http from "node:http";',
    'import * as https from "node:https";',
    'import { request } from "node:https";',
    'import { connect, type Socket } from "node:net";',
    'import { connect } from "tls";',
    'import { createSocket } from "node:dgram";',
    'import { resolve4 } from "node:dns/promises";',
    'const http = await import("node:http");',
    'const net = process.getBuiltinModule("node:net");',
    'await fetch("https://example.com");',
    "const send = parts.fetch ?? fetch;",
    "const text = `${await fetch(url)}`;",
    "const send = globalThis.fetch;",
    'const send = globalThis["fetch"];',
    'new WebSocket("wss://example.com");',
    'import { WebSocket as Socket } from "ws";',
    'const { WebSocket } = await import("ws"); new WebSocket("wss://example.com");',
    'new EventSource("https://example.com");',
    "new SSEClientTransport(new URL(url), { authProvider });",
    "await auth(client, { serverUrl });",
    "const keys = createRemoteJWKSet(new URL(uri));",
  ])("sees the way around in %s", (text) => {
    expect(waysAround("src/x.ts", text)).toHaveLength(1);
  });

  it.each([
    'import type { IncomingMessage } from "node:http";',
    'import { isIP, type Socket } from "node:net";',
    "const fetch = egressFetch(egress, { trusted: [] }); await fetch(url);",
    "// fetch( is said here",
    'const text = "await fetch(url)";',
    "const pattern = String.raw`fetch(${url})`;",
    "const { fetch: send } = parts; await parts.fetch(url);",
    'const { WebSocket } = await import("ws"); new WebSocket(url, { createConnection: () => egress.connect(url) });',
    "new SSEClientTransport(new URL(url), { fetch });\nfunction f({ fetch }: Parts) {}",
  ])("sees none in %s", (text) => {
    expect(waysAround("src/x.ts", text)).toEqual([]);
  });
});
