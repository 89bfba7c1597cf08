import { hash } from "node:crypto";
import { count } from "../errors/show-value.ts";
import type { Principal } from "../guard/principal.ts";
import { visibleText } from "../errors/visible-text.ts";
import { programIdentity } from "../system/program-identity.ts";
import { basePathOf } from "./http/allowed-callers.ts";
import { refuseMethod } from "./http/answer.ts";
import { escapeHtml } from "./http/escape-html.ts";
import type { Surface, SurfaceContext } from "./surface.ts";

export interface HomeView {
  /** The prefix of each path: `http://127.0.0.1:8080`, or empty if the server has no known address. */
  readonly base: string;
  readonly version?: string;
  readonly addresses: NonNullable<Surface["addresses"]>;
  /** The servers by name. If the page is public, only their number. */
  readonly servers: readonly ShownServer[] | { readonly count: number; readonly connected: number };
  /** The number of tools that do not come from a server. */
  readonly otherTools: number;
}

export interface ShownServer {
  readonly name: string;
  readonly state: "connecting" | "connected" | "failed" | "closed";
  readonly tools: number;
  /** The reason why the server is not connected. */
  readonly problem?: string;
}

const STYLE = `
:root { color-scheme: light dark; --text: #1d2129; --dim: #5a6270; --line: #d5d9e0; --good: #18794e; --bad: #b42318; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8ec; --dim: #a0a8b5; --line: #363c46; --good: #4cc38a; --bad: #ff9592; --page: #14171c; }
}
body { margin: 0 auto; padding: 1.5rem 1rem; max-width: 44rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.5rem; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.1rem; }
p, dd { margin: 0; color: var(--dim); }
dl, ul { margin: 0; padding: 0; list-style: none; }
dt, li { padding-top: 0.5rem; }
li { padding-bottom: 0.5rem; border-bottom: 1px solid var(--line); }
a { color: inherit; }
code { font: 0.9rem/1.4 ui-monospace, monospace; }
.connected { color: var(--good); }
.failed { color: var(--bad); }
`;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** Serves the public page at `/`, which describes the gateway, its addresses, and the state of each server. */
export function homeSurface(context: SurfaceContext): Surface {
  return {
    name: "home",
    routes: [
      {
        path: "/",
        exact: true,
        open: true,
        async handle({ request, response, principal }) {
          if (request.method !== "GET" && request.method !== "HEAD") return refuseMethod(response, "GET, HEAD");
          const page = homePage(await viewFor(principal, context));
          response.writeHead(200, { ...HEADERS, "content-length": Buffer.byteLength(page) }).end(page);
        },
      },
    ],
  };
}

/** Returns what the reader may see. If callers must authenticate, the page is public and contains no names. */
async function viewFor(principal: Principal, context: SurfaceContext): Promise<HomeView> {
  const { arsenal, isLocal } = context;
  const { upstreams } = arsenal;
  const common = { base: context.address(), addresses: context.surfaces().flatMap(({ addresses = [] }) => addresses) };
  if (!isLocal) {
    const connected = upstreams.filter(({ state }) => state.kind === "connected").length;
    return { ...common, servers: { count: upstreams.length, connected }, otherTools: 0 };
  }
  const tools = await arsenal.listTools({ principal });
  const toolsOf = (name: string): number => tools.filter(({ ensemble }) => ensemble === name).length;
  const servers = upstreams.map(({ name, state }) => {
    const problem = state.error?.message;
    return { name, state: state.kind, tools: toolsOf(name), ...(problem !== undefined && { problem }) };
  });
  const otherTools = tools.length - servers.reduce((sum, server) => sum + server.tools, 0);
  return { ...common, version: programIdentity().version, servers, otherTools };
}

/** Writes the page. It loads no resources and runs no scripts. */
export function homePage({ base, version, servers, otherTools, ...view }: HomeView): string {
  const addresses = view.addresses.map(([path, what, kind]) => {
    const code = `<code>${escaped(base + path)}</code>`;
    const shown = kind === "page" ? `<a href="${escaped(basePathOf(base) + path)}">${code}</a>` : code;
    return `<dt>${shown}</dt><dd>${escaped(what)}</dd>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ToolArsenal</title>
<style>${STYLE}</style>
</head>
<body>
<h1>ToolArsenal</h1>
<p>This is a gateway${version === undefined ? "" : `, version ${escaped(version)}`}: it serves the tools of many servers as one, over MCP, REST and A2A.</p>
<h2>Addresses</h2>
<dl>
${addresses.join("\n")}
</dl>
<h2>Servers</h2>
${"count" in servers ? `<p>${servers.connected} of ${count(servers.count, "server")} connected.</p>` : servers.length === 0 ? "<p>None.</p>" : `<ul>\n${servers.map(serverItem).join("\n")}\n</ul>`}
${otherTools === 0 ? "" : `<p>${count(otherTools, "tool")} of no server.</p>`}
</body>
</html>
`;
}

function serverItem({ name, state, tools, problem }: ShownServer): string {
  const why = problem === undefined ? "" : `: ${escaped(problem)}`;
  const known = tools === 0 && state !== "connected" ? "" : `, ${count(tools, "tool")}`;
  return `<li class="${state}"><b>${escaped(name)}</b> ${state}${why}${known}</li>`;
}

/** Returns text on one line, without hidden characters. */
function escaped(text: string): string {
  return escapeHtml(visibleText(text.replaceAll(/\s+/g, " ")));
}
