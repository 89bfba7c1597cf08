import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { IS_BUILT } from "../../kit/program.ts";
import { ROOT } from "../../repo/project.ts";

const PROGRAM = join(ROOT, "site/node_modules/.bin/vitepress");
const BUILT = join(ROOT, "site/dist");
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Why the site cannot be tested here, if so. With CI=true it must be. */
export function siteMissing(): string | undefined {
  if (existsSync(PROGRAM)) return undefined;
  if (process.env["CI"] !== undefined) throw new Error("The site is not built: run npm run docs:build first");
  return "site/node_modules is missing: npm run docs:build installs it";
}

export interface Site {
  /** The folder with the built pages. */
  readonly folder: string;
  readonly url: string;
  close(): void;
}

/** Serves the site that `.ci/run` built, or builds one. */
export async function openSite(): Promise<Site> {
  const isBuilt = IS_BUILT && existsSync(BUILT);
  const folder = isBuilt ? BUILT : mkdtempSync(join(tmpdir(), "toolarsenal-site-"));
  if (!isBuilt) {
    const { status, stdout, stderr } = spawnSync(PROGRAM, ["build", "site", "--outDir", folder], {
      cwd: ROOT,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`The site does not build:\n${stdout}\n${stderr}`);
  }
  const server = createServer(({ url = "/" }, response) => {
    const path = join(folder, decodeURIComponent(new URL(url, "http://site").pathname).replace(/\/$/, "/index.html"));
    if (!existsSync(path) || !statSync(path).isFile()) return void response.writeHead(404).end();
    // The names of assets change with their content, so browsers keep them, as they do on the published site.
    const keeping = url.startsWith("/assets/") ? { "cache-control": "max-age=31536000, immutable" } : {};
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", ...keeping });
    createReadStream(path).pipe(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    folder,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
      if (!isBuilt) rmSync(folder, { recursive: true, force: true });
    },
  };
}
