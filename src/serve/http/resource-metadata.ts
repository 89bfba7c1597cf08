import type { Identity, Refusal, TokenOrigin } from "../../guard/identity.port.ts";
import { withoutPrefix } from "./allowed-callers.ts";
import { answerJson, refuse, refuseMethod } from "./answer.ts";
import type { Route } from "../surface.ts";

/** The path of resource metadata in RFC 9728. The resource's own path follows it. */
const METADATA_PATH = "/.well-known/oauth-protected-resource";

/**
 * Returns the address of the metadata for the resource at a path. If the gateway is below a path, such as `https://example.com/tools`, the metadata
 * is below that path too, because every proxy passes on requests below it. The address that RFC 9728 derives, at the root of the host, is served as
 * well.
 */
export function metadataUrl(address: string, path: string): string {
  return address + METADATA_PATH + (path === "/" ? "" : path);
}

/** Publishes where clients get a token for the whole server or for one path. The routes are open to callers without a token. */
export function metadataRoutes(parts: {
  readonly tokenOrigin: TokenOrigin;
  /** The path of the public address: `/tools`, or empty. */
  readonly prefix: string;
  /** This server's address as a client sees it. */
  addressOf(host: string | undefined): string;
  /** Returns true for a path that requires authentication. */
  isProtected(path: string): boolean;
}): readonly Route[] {
  const { authorizationServers, scopes } = parts.tokenOrigin;

  const route = (path: string): Route => ({
    path,
    open: true,
    handle({ request: { method, headers }, response, url }) {
      if (method !== "GET" && method !== "HEAD") return refuseMethod(response, "GET, HEAD");
      const resource = withoutPrefix(url.pathname.slice(METADATA_PATH.length), parts.prefix);
      if (resource !== "" && !parts.isProtected(resource))
        return refuse(response, { status: 404, message: "No protected resource is at that path." });
      answerJson(response, 200, {
        resource: parts.addressOf(headers.host) + resource,
        authorization_servers: authorizationServers,
        ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
        bearer_methods_supported: ["header"],
        resource_name: "ToolArsenal",
      });
    },
  });

  return [route(METADATA_PATH), route(`${METADATA_PATH}/`)];
}

/** Returns the `WWW-Authenticate` header for a refused caller: the error, the required scopes, and the address of the resource metadata. */
export function toChallenge(
  { challenge, tokenOrigin }: Pick<Identity, "challenge" | "tokenOrigin">,
  refusal: Refusal | undefined,
  metadata: string,
): string {
  const scopes = refusal?.error === "insufficient_scope" ? refusal.scopes : (tokenOrigin?.scopes ?? []);
  const parameters = [
    ...(refusal === undefined ? [] : [`error="${refusal.error}"`, `error_description="${refusal.description}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`]),
    ...(tokenOrigin === undefined ? [] : [`resource_metadata="${metadata}"`]),
  ];
  if (parameters.length === 0) return challenge;
  return challenge + (challenge.includes(" ") ? ", " : " ") + parameters.join(", ");
}
