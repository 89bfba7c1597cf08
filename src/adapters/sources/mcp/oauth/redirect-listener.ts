import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { timingSafeEqual } from "node:crypto";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";

/** The redirect of an authorization server, received from the browser. */
export interface RedirectAnswer {
  readonly params: URLSearchParams;
  reply(message: string, ok: boolean): void;
}

/**
 * Waits for one redirect to `http://127.0.0.1:PORT/callback`. Listens on `port` if it is free. Otherwise uses any free port, or fails if `exactPort`
 * is set.
 */
export async function listenForRedirect(options: {
  readonly state: string;
  readonly port?: number | undefined;
  readonly exactPort?: boolean;
}) {
  const { promise: answer, resolve, reject } = Promise.withResolvers<RedirectAnswer>();
  // The waiting request receives the error. This handler only prevents an unhandled rejection.
  answer.catch(() => undefined);

  const pages: Promise<void>[] = [];
  const server = process.getBuiltinModule("node:http").createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const state = url.searchParams.get("state");
    const send = (status: number, message: string): void => void pages.push(sendPage(response, status, message));
    if (request.method !== "GET" || url.pathname !== "/callback" || state === null)
      return send(404, "Nothing is here.");
    if (!isSame(state, options.state)) {
      send(400, "This answer belongs to another login. Nothing was stored.");
      const message = "The redirect has a different state than the login that was started; nothing was stored.";
      const fix = "Run the login again and use the address it prints, in a fresh window.";
      return reject(new ArsenalError("PERMISSION_DENIED", message, { fix }));
    }
    resolve({ params: url.searchParams, reply: (message, ok) => send(ok ? 200 : 400, message) });
  });

  const listen = async (port: number): Promise<void> =>
    void (await once(server.listen(port, "127.0.0.1"), "listening"));
  const { port: value = 0, exactPort = false } = options;
  await listen(value).catch((cause: unknown) => {
    if (!exactPort && value !== 0) return listen(0);
    const fix = "End the program that uses the port, or choose another.";
    const message = `Port ${value} is in use, so the login cannot receive its redirect.`;
    throw new ArsenalError("SOURCE_UNAVAILABLE", message, { field: "oauth.redirectPort", value, fix, cause });
  });
  const { port } = server.address() as AddressInfo;

  return {
    redirectUri: `http://127.0.0.1:${port}/callback`,
    /** Resolves with the redirect that has our `state`. Rejects on a redirect with another `state`. */
    answer,
    async close(): Promise<void> {
      // Pending pages are sent first. Idle connections that a browser opened in advance are closed.
      await Promise.all(pages);
      const closed = new Promise((done) => void server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Sends a page with a fixed text, so no part of the redirect is shown. */
function sendPage(response: ServerResponse, status: number, message: string): Promise<void> {
  const sent = new Promise<void>((done) => void response.once("finish", done).once("close", done));
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>ToolArsenal</title>` +
      `<body style="font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1rem">` +
      `<h1 style="font-size: 1.4rem">ToolArsenal</h1><p>${message.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</p></body></html>`,
  );
  return sent;
}
