import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { OutgoingHttpHeaders } from "node:http";
import { basePathOf } from "../http/allowed-callers.ts";
import { escapeHtml } from "../http/escape-html.ts";
import { pageTokenMeta } from "../http/page-token.ts";
import { refuseMethodWithProblem } from "../http/problem.ts";
import type { HttpExchange, Surface, SurfaceContext } from "../surface.ts";
import { appFrameRoute } from "./app-frame.ts";
import { connectionRoute } from "./connections.ts";
import { type SignInOutcome, signInRoutes } from "./sign-in.ts";

const BASE = "/ui";
const PAGE = "index.html";

/** The build output of the dashboard, `dist/ui`, relative to the compiled package and to the sources. */
const FOLDERS = ["../../ui/", "../../../dist/ui/"].map((path) => new URL(path, import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Returns true if every `%XX` of a path can be decoded. Other paths get 404. */
function isWellFormed(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns the page with its data. Its assets are below the path of the public address, from which the page derives its own paths. */
function pageAt(prefix: string, page: string, meta: string): string {
  const found = page.replace("</head>", () => `${meta}</head>`);
  return prefix === "" ? found : found.replaceAll(`"${BASE}/assets/`, () => `"${escapeHtml(prefix)}${BASE}/assets/`);
}

/** Serves the dashboard at `/ui`. Its files reveal nothing about the gateway, so they are public. The data comes from `/api/v1`. */
export function uiSurface({
  replica: { seal },
  identity,
  emit,
  connections,
}: Pick<SurfaceContext, "replica" | "identity" | "emit" | "connections">): Surface {
  const folder = FOLDERS.find((each) => existsSync(new URL("index.html", each)));
  const { signIn } = identity ?? {};

  /** Returns the data that the page needs before its first request: its token, and the way to sign in. */
  function metaOf(outcome: Partial<SignInOutcome>): string {
    if (signIn === undefined) return pageTokenMeta(seal);
    const known = JSON.stringify({ issuer: signIn.name, keys: !signIn.onlyWay, ...outcome });
    return `${pageTokenMeta(seal)}<meta name="sign-in" content="${escapeHtml(known)}">`;
  }

  async function answer(
    { request, response, address }: HttpExchange,
    name: string,
    { status = 200, headers = {}, meta }: { status?: number; headers?: OutgoingHttpHeaders; meta?: string },
  ): Promise<void> {
    const plain = { ...HEADERS, "content-type": "text/plain; charset=utf-8" };
    if (folder === undefined) {
      const text = "The dashboard is not built. Run `npm run build:dashboard`, then reload this page.\n";
      response.writeHead(503, plain).end(text);
      return;
    }
    const file = await readFile(fileURLToPath(new URL(name, folder))).catch(() => undefined);
    if (file === undefined) {
      response.writeHead(404, plain).end("There is nothing at this path.\n");
      return;
    }
    const found = meta === undefined ? file : Buffer.from(pageAt(basePathOf(address), file.toString(), meta));
    response
      .writeHead(status, {
        ...HEADERS,
        "content-type": TYPES[extname(name)] ?? "application/octet-stream",
        "content-length": found.length,
        // The names of assets change with their content. The page itself has a token that expires.
        "cache-control": meta === undefined ? "public, max-age=31536000, immutable" : "no-store",
        ...headers,
      })
      .end(request.method === "HEAD" ? undefined : found);
  }

  async function handle(exchange: HttpExchange): Promise<void> {
    const { request, response, url } = exchange;
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuseMethodWithProblem(request, response, "GET, HEAD");
    const asset = /^\/ui\/(assets\/[\w-]+(?:\.[\w-]+)*\.(?:js|css|svg))$/.exec(url.pathname)?.[1];
    if (asset !== undefined) return answer(exchange, asset, {});
    await answer(exchange, PAGE, { status: isWellFormed(url.pathname) ? 200 : 404, meta: metaOf({}) });
  }

  const signInAt =
    identity && signIn
      ? signInRoutes({
          identity,
          signIn,
          seal,
          emit,
          show: (exchange, outcome, status, headers) =>
            answer(exchange, PAGE, { status, headers, meta: metaOf(outcome) }),
        })
      : [];

  return {
    name: "ui",
    routes: [
      { path: BASE, open: true, refusals: "problem+json", handle },
      { path: `${BASE}/`, open: true, refusals: "problem+json", handle },
      appFrameRoute,
      ...signInAt,
      ...(connections ? [connectionRoute(connections)] : []),
    ],
    addresses: [[BASE, "The dashboard: search, calls, approvals and health.", "page"]],
  };
}
