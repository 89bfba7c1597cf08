import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { hostOf } from "./check-url.ts";

/** Why a connection was never made, as Node names it: nothing was sent. */
export const NOT_CONNECTED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** What became of a request that was not answered. */
export function toRequestFailure(error: Error, url: URL, signal: AbortSignal | undefined): ArsenalError {
  if (isArsenalError(error)) return error;
  if (signal?.aborted)
    return new ArsenalError("CANCELLED", `The request to ${hostOf(url)} was cancelled`, { cause: error });
  const { code } = error as { readonly code?: string };
  const beforeSend = NOT_CONNECTED.has(code ?? "");
  return requestFailed(url, error.message === "" ? String(code) : error.message, { cause: error, beforeSend });
}

/** The failure of a request, and why. */
export function requestFailed(
  url: URL,
  why: string,
  details: { readonly cause?: unknown; readonly beforeSend?: boolean } = {},
): ArsenalError {
  return new ArsenalError("TRANSPORT_FAILED", `The request to ${url.host} failed: ${why}`, details);
}
