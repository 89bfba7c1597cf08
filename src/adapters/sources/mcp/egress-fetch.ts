import { Readable } from "node:stream";
import type { Egress } from "../../../guard/egress/egress.ts";
import type { FetchLike } from "./oauth/guarded-fetch.ts";

/** Statuses whose answers have no body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** A `fetch` that goes the way of all requests, for code of others that knows no other way. Bodies are text. */
export function egressFetch(egress: Egress): FetchLike {
  return async (url, { method, headers, body, signal } = {}) => {
    const answer = await egress.request(String(url), {
      allowPrivate: true,
      publicRedirects: true,
      maxBytes: Number.POSITIVE_INFINITY,
      headers: Object.fromEntries(new Headers(headers)),
      ...(method === undefined ? {} : { method }),
      ...(typeof body === "string" ? { body } : {}),
      ...(signal ? { signal } : {}),
    });
    const { status } = answer;
    if (BODILESS.has(status)) answer.body.resume();
    const content = BODILESS.has(status)
      ? null
      : (Readable.toWeb(answer.body) as unknown as ReadableStream<Uint8Array>);
    return new Response(content, { status, headers: answer.headers });
  };
}
