import { RPC, RpcError } from "../../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../../adapters/sources/mcp/upstream/upstream.ts";
import { showValue } from "../../../../errors/show-value.ts";
import { fromServedUri } from "./resource-uri.ts";

export interface OwnResource {
  readonly upstream: McpUpstream;
  readonly uri: string;
}

/** Returns the resource that a client's URI refers to. Throws the protocol's error if the resource does not exist. */
export function findResource(served: unknown, upstream: (name: string) => McpUpstream | undefined): OwnResource {
  const parts = typeof served === "string" ? fromServedUri(served) : undefined;
  const found = parts === undefined ? undefined : upstream(parts.upstream);
  if (parts !== undefined && found !== undefined) return { upstream: found, uri: parts.uri };
  if (typeof served !== "string") {
    const message = `uri is ${showValue(served)}. Give the URI of a resource from resources/list.`;
    throw new RpcError({ code: RPC.invalidParams, message });
  }
  throw unknownResource(served);
}

/** Returns the error for a resource that does not exist, or that the client may not see. */
export function unknownResource(served: unknown): RpcError {
  return new RpcError({ code: RPC.resourceNotFound, message: "Resource not found", data: { uri: served } });
}

export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** Subscribes to a resource, under policy, until the signal fires. Rejects if the client may not subscribe, or the server does not support it. */
export type Subscribe = (resource: OwnResource, until: AbortSignal) => Promise<void>;

interface HeldSubscription extends OwnResource {
  readonly controller: AbortController;
  /** While false, this client must not get updates that another client's subscription causes. */
  granted: boolean;
}

export function createSubscriptions(subscribe: Subscribe) {
  const held = new Map<string, HeldSubscription>();
  const keyOf = ({ upstream, uri }: OwnResource): string => `${upstream.name}\0${uri}`;

  return {
    async add(resource: OwnResource): Promise<void> {
      const key = keyOf(resource);
      if (held.has(key)) return;
      const subscription: HeldSubscription = { ...resource, controller: new AbortController(), granted: false };
      held.set(key, subscription);
      try {
        await subscribe(resource, subscription.controller.signal);
        subscription.granted = true;
      } catch (error) {
        if (held.get(key) === subscription) held.delete(key);
        throw error;
      }
    },
    remove(resource: OwnResource): void {
      const key = keyOf(resource);
      held.get(key)?.controller.abort();
      held.delete(key);
    },
    /** Returns true if an update of this resource concerns the client, which subscribed to it or to a containing resource. */
    watches(name: string, uri: string): boolean {
      return [...held.values()].some(({ upstream, uri: whole, granted }) => {
        if (!granted || upstream.name !== name) return false;
        return uri === whole || uri.startsWith(whole.endsWith("/") ? whole : `${whole}/`);
      });
    },
    close(): void {
      for (const { controller } of held.values()) controller.abort();
      held.clear();
    },
  };
}
