import type { RpcNotification } from "../../../mcp/protocol.ts";
import type { McpUpstream, UpstreamChange } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import type { Clock } from "../../../observe/clock.ts";
import type { Push } from "../plane.ts";
import { listChanged, listOf, type ServedList } from "../subscription.ts";
import { toServedUri } from "./resources/resource-uri.ts";

export interface Listener {
  readonly push: Push;
  wants(list: ServedList): boolean;
  /** Returns true if the client subscribed to a resource of an upstream. */
  watches(upstream: string, uri: string): boolean;
}

/** Changes come in bursts: a connecting server registers its tools one by one. */
const GATHER_MS = 100;

export const BESIDES_TOOLS = ["resources", "prompts"] as const satisfies readonly ServedList[];

/** Notifies clients of changes. Follows the upstreams. */
export function createChanges(upstreams: () => readonly McpUpstream[], clock: Clock) {
  const listeners = new Set<Listener>();
  const gathering = new Map<ServedList, () => void>();
  const watched = new Map<McpUpstream, () => void>();

  /** Notifies clients that lists may have changed. Changes within a short time are announced together. */
  function changed(...lists: readonly ServedList[]): void {
    for (const list of lists) {
      const tell = (): void => {
        gathering.delete(list);
        for (const listener of listeners) if (listener.wants(list)) listener.push(listChanged(list));
      };
      if (!gathering.has(list)) gathering.set(list, clock.after(GATHER_MS, tell, { background: true }));
    }
  }

  function take(upstream: McpUpstream, change: UpstreamChange): void {
    if (change.kind === "listed" && change.listing !== "tools") changed(listOf(change.listing));
    if (change.kind === "state" && change.state.kind === "connected") changed(...BESIDES_TOOLS);
    if (change.kind === "notification") tellUpdate(upstream, change.notification);
  }

  function tellUpdate({ name }: McpUpstream, { method, params }: RpcNotification): void {
    const uri = params?.["uri"];
    if (method !== "notifications/resources/updated" || typeof uri !== "string") return;
    const served = { ...params, uri: toServedUri(name, uri) };
    for (const listener of listeners)
      if (listener.watches(name, uri)) listener.push({ jsonrpc: "2.0", method, params: served });
  }

  /** Watches new upstreams and stops watching removed ones. Returns whether there were any. */
  function watchCurrent(): boolean {
    const current = new Set(upstreams());
    const gone = [...watched].filter(([upstream]) => !current.has(upstream));
    for (const [upstream, end] of gone) {
      end();
      watched.delete(upstream);
    }
    const came = [...current].filter((upstream) => !watched.has(upstream));
    for (const upstream of came)
      watched.set(
        upstream,
        upstream.watch((change) => take(upstream, change)),
      );
    return gone.length + came.length > 0;
  }

  watchCurrent();
  return {
    /** Returns a function that removes the listener. */
    add(listener: Listener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    changed,
    /** Called when servers were added or removed. */
    follow(): void {
      if (watchCurrent()) changed(...BESIDES_TOOLS);
    },
    close(): void {
      for (const end of watched.values()) end();
      for (const cancel of gathering.values()) cancel();
      listeners.clear();
    },
  };
}
