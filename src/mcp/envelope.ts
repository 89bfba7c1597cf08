import { type Era, type JsonObject, META, MODERN_VERSIONS, RPC, RpcError } from "./protocol.ts";
import type { Principal } from "../guard/principal.ts";
import { isPlainObject } from "../tool/json-schema.ts";

const LOG_LEVELS: readonly string[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** The client at the other end, as far as it has identified itself. */
export interface Peer {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly info?: JsonObject;
  /** The requests that the client lets a server send: elicitation, sampling, roots. */
  readonly capabilities: JsonObject;
  readonly principal: Principal;
}

/** Returns the protocol version that a modern request claims, without checking it; undefined for a legacy request. */
export function claimedVersion(params: JsonObject | undefined): unknown {
  const meta = params?.["_meta"];
  return isPlainObject(meta) && Object.hasOwn(meta, META.protocolVersion) ? meta[META.protocolVersion] : undefined;
}

export type Envelope = ReturnType<typeof readEnvelope>;

/** Reads a modern request's description of its client. Throws the `RpcError` that the client gets for a malformed one. */
export function readEnvelope(params: JsonObject, principal: Principal) {
  const meta = isPlainObject(params["_meta"]) ? params["_meta"] : {};
  const version = meta[META.protocolVersion];
  const capabilities = meta[META.clientCapabilities];
  const info = meta[META.clientInfo];
  const logLevel = meta[META.logLevel];
  if (typeof version !== "string") throw malformed(META.protocolVersion, "a protocol version such as 2026-07-28");
  if (!isPlainObject(capabilities)) throw malformed(META.clientCapabilities, "an object");
  if (info !== undefined && !isPlainObject(info)) throw malformed(META.clientInfo, "an object");
  if (!MODERN_VERSIONS.includes(version)) throw unsupportedVersion(version);
  const least = LOG_LEVELS.indexOf(logLevel as string);
  if (logLevel !== undefined && least < 0) throw malformed(META.logLevel, `one of ${LOG_LEVELS.join(", ")}`);
  const peer: Peer = { era: "modern", protocolVersion: version, ...(info && { info }), capabilities, principal };
  return {
    peer,
    progressToken: meta["progressToken"],
    /** True if the request subscribed to log messages of that level. */
    wantsLog: (level: unknown): boolean => least >= 0 && LOG_LEVELS.indexOf(level as string) >= least,
  };
}

export function unsupportedVersion(requested: string): RpcError {
  return new RpcError({
    code: RPC.unsupportedVersion,
    message: `Unsupported protocol version. Requests without a session are answered in ${MODERN_VERSIONS.join(", ")}.`,
    data: { supported: MODERN_VERSIONS, requested },
  });
}

function malformed(key: string, expected: string): RpcError {
  return new RpcError({ code: RPC.invalidParams, message: `The request's _meta needs "${key}": ${expected}.` });
}
