import { refuseMethodWithProblem } from "../http/problem.ts";
import type { HttpExchange, Route } from "../surface.ts";

/** The path of the empty page that shows an interface of a tool (MCP Apps). */
const APP_FRAME = "/ui/app-frame";

/** Announces itself, then becomes the page that the dashboard sends. It accepts one page, and only from its parent. */
const PAGE = `<!doctype html>
<meta charset="utf-8">
<title>App</title>
<script>
const ready = "ui/notifications/sandbox-proxy-ready", given = "ui/notifications/sandbox-resource-ready";
addEventListener("message", function take({ source, data }) {
  if (source !== parent || source === window || data?.method !== given) return;
  removeEventListener("message", take);
  document.open();
  document.write(data.params.html);
  document.close();
});
parent.postMessage({ jsonrpc: "2.0", method: ready, params: {} }, "*");
</script>
`;

/** Matches the origins that an interface may declare: encrypted ones, without a path. */
const ORIGIN = /^(?:https|wss):\/\/(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/i;
const MOST_ORIGINS = 50;

/**
 * Returns the Content-Security-Policy of an interface that declares these domains. Its origin is opaque, even in a separate tab, so that it cannot
 * read data of the gateway. Without declared domains, it has no network access.
 */
export function appPolicy(declared: URLSearchParams): string {
  const origins = (name: string): string =>
    declared
      .getAll(name)
      .filter((each) => ORIGIN.test(each))
      .slice(0, MOST_ORIGINS)
      .map((each) => ` ${each}`)
      .join("");
  const resources = origins("resource");
  return [
    "default-src 'none'",
    `script-src 'unsafe-inline'${resources}`,
    `style-src 'unsafe-inline'${resources}`,
    ...["img-src", "font-src", "media-src"].map((kind) => `${kind} data: blob:${resources}`),
    `connect-src${origins("connect") || " 'none'"}`,
    `frame-src${origins("frame") || " 'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ].join("; ");
}

/** Serves the page. It is the same for every caller, so it is public. The interface itself comes from the dashboard. */
export const appFrameRoute: Route = {
  path: APP_FRAME,
  open: true,
  refusals: "problem+json",
  handle({ request, response, url }: HttpExchange) {
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuseMethodWithProblem(request, response, "GET, HEAD");
    response
      .writeHead(200, {
        "content-security-policy": appPolicy(url.searchParams),
        "content-type": "text/html; charset=utf-8",
        "content-length": Buffer.byteLength(PAGE),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      })
      .end(request.method === "HEAD" ? undefined : PAGE);
  },
};
