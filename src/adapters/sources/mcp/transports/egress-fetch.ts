import { Readable } from "node:stream";
import type { Egress } from "../../../../guard/egress/egress.ts";
import type { FetchLike } from "../oauth/guarded-fetch.ts";

/** Statuses whose answers have no body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** What a `fetch` may reach and read. */
export interface EgressFetchOptions {
  /** Addresses that the operator wrote; what lies at another origin was written by others. */
  readonly trusted: readonly string[];
  /** Names of headers that carry secrets, beside authorization and cookie: not for another origin that an answer redirects to. */
  readonly secretHeaders: readonly string[];
  /** Bytes of an answer. */
  readonly maxBytes: number;
}

/** A `fetch` that goes the way of all requests, for code of others that knows no other way. Bodies are text or a form. */
export function egressFetch(egress: Egress, { trusted, secretHeaders, maxBytes }: EgressFetchOptions): FetchLike {
  const origins = new Set(trusted.map((url) => URL.parse(url)?.origin));
  return async (given, { method, headers: wanted, body, redirect, signal } = {}) => {
    const url = new URL(given);
    const headers = new Headers(wanted);
    const isForm = body instanceof URLSearchParams;
    if (isForm && !headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded");
    const answer = await egress.request(url, {
      trusted: origins.has(url.origin),
      maxBytes,
      secretHeaders,
      headers: Object.fromEntries(headers),
      ...(redirect === "error" || redirect === "manual" ? { maxRedirects: 0 } : {}),
      ...(method === undefined ? {} : { method }),
      ...(isForm || typeof body === "string" ? { body: String(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    const { status } = answer;
    if (redirect === "error" && status >= 300 && status < 400 && "location" in answer.headers) {
      answer.body.destroy();
      throw new TypeError(`${url.origin} answered with a redirect, which is not followed here`);
    }
    if (BODILESS.has(status)) answer.body.resume();
    const content = BODILESS.has(status) ? null : Readable.toWeb(answer.body as Readable);
    return new Response(content as ReadableStream<Uint8Array> | null, { status, headers: answer.headers });
  };
}
