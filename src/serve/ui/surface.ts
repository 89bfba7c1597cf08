import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { refuseMethod } from "../http/answer.ts";
import { pageTokenMeta } from "../http/page-token.ts";
import type { HttpExchange, Surface, SurfaceContext } from "../surface.ts";

const BASE = "/ui";

/** Where the build puts the dashboard: `dist/ui`, seen from the compiled package and from the sources. */
const FOLDERS = ["../../ui/", "../../../dist/ui/"].map((path) => new URL(path, import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** `/ui`: the dashboard. Its files say nothing about the gateway, so anybody may load them; the data comes from `/api/v1`. */
export function uiSurface({ replica }: Pick<SurfaceContext, "replica">): Surface {
  const folder = FOLDERS.find((each) => existsSync(new URL("index.html", each)));

  function withToken(page: Buffer): Buffer {
    return Buffer.from(page.toString().replace("</head>", () => `${pageTokenMeta(replica.seal)}</head>`));
  }

  async function handle({ request, response, url }: HttpExchange): Promise<void> {
    if (request.method !== "GET" && request.method !== "HEAD") return refuseMethod(response, "GET, HEAD");
    if (folder === undefined) {
      const text = "The dashboard is not built. Run `npm run build:dashboard`, then reload this page.\n";
      response.writeHead(503, { ...HEADERS, "content-type": "text/plain; charset=utf-8" }).end(text);
      return;
    }
    const asset = /^\/ui\/(assets\/[\w-]+(?:\.[\w-]+)*\.(?:js|css|svg))$/.exec(url.pathname)?.[1];
    const name = asset ?? "index.html";
    const file = await readFile(fileURLToPath(new URL(name, folder))).catch(() => undefined);
    if (file === undefined) {
      response.writeHead(404, { ...HEADERS, "content-type": "text/plain; charset=utf-8" }).end("Nothing is here.\n");
      return;
    }
    const found = asset === undefined ? withToken(file) : file;
    response
      .writeHead(200, {
        ...HEADERS,
        "content-type": TYPES[extname(name)] ?? "application/octet-stream",
        "content-length": found.length,
        // The names of assets change with their content. The page has a token that expires.
        "cache-control": asset === undefined ? "no-store" : "public, max-age=31536000, immutable",
      })
      .end(request.method === "HEAD" ? undefined : found);
  }

  return {
    name: "ui",
    routes: [
      { path: BASE, open: true, handle },
      { path: `${BASE}/`, open: true, handle },
    ],
    addresses: [[BASE, "The dashboard: search, calls, approvals and health.", "page"]],
  };
}
