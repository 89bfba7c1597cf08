import { buffer } from "node:stream/consumers";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Security } from "../credentials/security.ts";
import { parseObject } from "../parse-object.ts";
import type { AgentParts } from "./connection.ts";
import type { AgentInterface } from "./messages.ts";

const METHODS = { "1.0": "GetExtendedAgentCard", "0.3": "agent/getAuthenticatedExtendedCard", draft: undefined };
const PATHS = { "1.0": "/extendedAgentCard", "0.3": "/v1/card", draft: undefined };

/** Fetches the card that an agent shows to callers it knows. Undefined if the agent shows us none: then its open card is what there is. */
export async function loadExtendedCard(
  via: AgentInterface,
  { name, egress, authorize, isTrusted }: AgentParts,
  options: { readonly security: Security; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { security, maxBytes, signal } = options;
  const { version, binding, url, tenant } = via;
  const [method, path] = [METHODS[version], PATHS[version]];
  if (method === undefined || path === undefined) return undefined;
  const isRpc = binding === "JSONRPC";
  const below = tenant === undefined ? "" : `/${encodeURIComponent(tenant)}`;
  const address = isRpc
    ? url
    : `${url.replace(/\/+$/, "").replace(version === "0.3" ? /\/v1$/ : /$/, "")}${below}${path}`;
  const params = tenant === undefined ? {} : { tenant };
  try {
    const { headers, query, cookies } = await authorize(security, name, { signal });
    const answer = await egress.request(query.length === 0 ? address : `${address}?${query.join("&")}`, {
      method: isRpc ? "POST" : "GET",
      headers: {
        accept: "application/json",
        "user-agent": "toolarsenal",
        "a2a-version": version,
        ...(isRpc && { "content-type": "application/json" }),
        ...headers,
        ...(cookies.length > 0 && { cookie: cookies.join("; ") }),
      },
      secretHeaders: Object.keys(headers),
      ...(isRpc && { body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) }),
      signal,
      maxBytes,
      maxRedirects: 0,
      trusted: isTrusted(address),
    });
    const body = parseObject((await buffer(answer.body)).toString("utf8"));
    if (answer.status >= 300 || body === undefined) return undefined;
    const card = isRpc ? body["result"] : body;
    return isPlainObject(card) ? card : undefined;
  } catch (error) {
    // Without credentials, or if they are refused, calls say so. An agent that cannot be reached is tried again.
    if (isArsenalError(error) && error.code !== "TRANSPORT_FAILED" && !signal.aborted) return undefined;
    throw error;
  }
}
