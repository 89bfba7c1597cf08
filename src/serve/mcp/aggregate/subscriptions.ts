import { type JsonObject, RPC, RpcError } from "../../../adapters/sources/mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream.ts";
import { showValue } from "../../../errors/show-value.ts";
import { fromServedUri } from "./resource-uri.ts";

/** One of an upstream's resources. */
export interface OwnResource {
  readonly upstream: McpUpstream;
  /** The upstream's own URI. */
  readonly uri: string;
}

/** The resource that a client's URI means. Throws the protocol's error where it means none. */
export function findResource(served: unknown, upstream: (name: string) => McpUpstream | undefined): OwnResource {
  const parts = typeof served === "string" ? fromServedUri(served) : undefined;
  const found = parts === undefined ? undefined : upstream(parts.upstream);
  if (parts !== undefined && found !== undefined) return { upstream: found, uri: parts.uri };
  if (typeof served !== "string") {
    const message = `uri is ${showValue(served)}. Give the URI of a resource from resources/list.`;
    throw new RpcError({ code: RPC.invalidParams, message });
  }
  throw new RpcError({ code: RPC.resourceNotFound, message: "Resource not found", data: { uri: served } });
}

/** The resources one client is told about. */
export interface Subscriptions {
  add(resource: OwnResource): Promise<void>;
  remove(resource: OwnResource): void;
  /** Whether an update of this resource concerns the client: it subscribed to it, or to what it is a part of. */
  watches(upstream: string, uri: string): boolean;
  close(): void;
}

/** Starts without any. */
export function createSubscriptions(): Subscriptions {
  const held = new Map<string, OwnResource & { readonly controller: AbortController }>();
  const keyOf = ({ upstream, uri }: OwnResource): string => `${upstream.name}\0${uri}`;

  return {
    async add(resource) {
      const key = keyOf(resource);
      if (held.has(key)) return;
      const subscription = { ...resource, controller: new AbortController() };
      held.set(key, subscription);
      try {
        await resource.upstream.subscribe(resource.uri, { signal: subscription.controller.signal });
      } catch (error) {
        if (held.get(key) === subscription) held.delete(key);
        throw error;
      }
    },
    remove(resource) {
      const key = keyOf(resource);
      held.get(key)?.controller.abort();
      held.delete(key);
    },
    watches(name, uri) {
      for (const { upstream, uri: whole } of held.values()) {
        if (upstream.name === name && (uri === whole || uri.startsWith(whole.endsWith("/") ? whole : `${whole}/`)))
          return true;
      }
      return false;
    },
    close() {
      for (const { controller } of held.values()) controller.abort();
      held.clear();
    },
  };
}

/** The URIs of a modern client's filter. */
export function urisOf(filter: JsonObject): readonly string[] {
  const { resourceSubscriptions: uris } = filter;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}
