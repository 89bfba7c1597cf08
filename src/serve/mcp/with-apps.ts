import { announces, EXTENSIONS } from "../../mcp/extensions.ts";
import type { JsonObject } from "../../mcp/protocol.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { toServedUri } from "./aggregate/resources/resource-uri.ts";
import type { Exchange, Plane, PlaneSession } from "./plane.ts";

/** The older notation for the interface of a tool. */
const OLD_KEY = "ui/resourceUri";
const UI_SCHEME = "ui://";

/** Shows the interfaces of tools (MCP Apps) only to clients that announce that extension. The interfaces themselves are not changed. */
export function withApps(plane: Plane): Plane {
  const shown = (session: PlaneSession): PlaneSession => ({
    ...session,
    handle(exchange) {
      const answer = session.handle(exchange);
      return showsInterfaces(exchange) ? answer : answer.then(withoutApps);
    },
  });
  return {
    ...plane,
    shared: shown(plane.shared),
    openSession: async (peer, channel) => shown(await plane.openSession(peer, channel)),
  };
}

/** True if a client gets the answer unchanged: it announces the extension, or the answer lists neither tools nor resources. */
function showsInterfaces({ method, peer }: Exchange): boolean {
  return (method !== "tools/list" && method !== "resources/list") || announces(peer.capabilities, EXTENSIONS.apps);
}

function withoutApps(result: JsonObject): JsonObject {
  const { tools, resources } = result;
  return {
    ...result,
    ...(Array.isArray(tools) && { tools: tools.flatMap((tool: unknown) => withoutApp(tool)) }),
    ...(Array.isArray(resources) && { resources: resources.filter((each: unknown) => !isApp(each)) }),
  };
}

/** Returns a tool without its interface. Returns an empty list for a tool that only an interface may call. */
function withoutApp(tool: unknown): readonly unknown[] {
  const meta = isPlainObject(tool) ? tool["_meta"] : undefined;
  if (!isPlainObject(tool) || !isPlainObject(meta) || (meta["ui"] === undefined && meta[OLD_KEY] === undefined))
    return [tool];
  const { ui, [OLD_KEY]: _, ...others } = meta;
  const visibility = isPlainObject(ui) ? ui["visibility"] : undefined;
  if (Array.isArray(visibility) && !visibility.includes("model")) return [];
  return [{ ...tool, _meta: others }];
}

function isApp(resource: unknown): boolean {
  return isPlainObject(resource) && typeof resource["uri"] === "string" && resource["uri"].startsWith(UI_SCHEME);
}

/** Returns the `_meta` of a server's tool. The URI of its interface is converted to the one that clients of the aggregate read. */
export function withServedApp(meta: JsonObject, upstream: string | undefined): JsonObject {
  if (upstream === undefined) return meta;
  const { ui, [OLD_KEY]: old } = meta;
  const served = (uri: string): string => toServedUri(upstream, uri);
  return {
    ...meta,
    ...(isPlainObject(ui) &&
      typeof ui["resourceUri"] === "string" && { ui: { ...ui, resourceUri: served(ui["resourceUri"]) } }),
    ...(typeof old === "string" && { [OLD_KEY]: served(old) }),
  };
}
