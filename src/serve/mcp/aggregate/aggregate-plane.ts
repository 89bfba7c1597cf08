import type { ServerDescription } from "../../../mcp/connection.ts";
import type { JsonObject } from "../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import type { Principal } from "../../../guard/principal.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { ArsenalEvent } from "../../../observe/events.ts";
import { guardedRequest } from "../guarded-request.ts";
import { type Exchange, nobodyToAsk, type Peer, type Plane, type PlaneSession, type Push } from "../plane.ts";
import type { Seal } from "../modern/seal.ts";
import { type Startup, STARTED } from "../../startup.ts";
import { answerRequest, type SessionState } from "./answer-request.ts";
import { listOf, readFilter, toFilter } from "../subscription.ts";
import { createChanges } from "./changes.ts";
import { type CommonTools, configuredTools, learnedTools } from "../../meta-tools/hybrid-tools.ts";
import { instructionsFor, offerOf, type ServeMode } from "../../meta-tools/definitions.ts";
import { createMetaTools } from "../../meta-tools/meta-tools.ts";
import { createListings } from "./listings.ts";
import { CHANGES_TOOLS, type ServedArsenal } from "../../served-arsenal.ts";
import { createSubscriptions, findResource, type Subscribe, unknownResource } from "./resources/subscriptions.ts";
import { toServedUri } from "./resources/resource-uri.ts";
import type { AnswerParts } from "./upstream-request.ts";

/** What the aggregate is made of. */
export interface AggregateParts {
  readonly arsenal: ServedArsenal;
  /** The MCP servers behind it now. */
  readonly upstreams: () => readonly McpUpstream[];
  /** Calls back when servers were added or removed. Returns what ends it. */
  readonly watchUpstreams?: (changed: () => void) => () => void;
  /** The toolset that `arsenal` is narrowed to: its tools are served, and no resources or prompts. Defaults to everything. */
  readonly toolset?: ServedToolset;
  readonly mode: ServeMode;
  /** What hybrid mode lists: ids, names as clients see them, or patterns. Defaults to the tools used most. */
  readonly common?: readonly string[];
  /** Seals what upstreams want back. */
  readonly seal: Seal;
  /** Name and version of this server. */
  readonly info: JsonObject;
  readonly clock?: Clock;
  /** Which servers are still connecting, and the wait for them. Defaults to: none are. */
  readonly startup?: Startup;
}

/** A toolset as a plane serves it. */
export interface ServedToolset {
  readonly name: string;
  /** Empty if nobody described it. */
  description(): string;
  /** Whether a caller may use it now. */
  admits(principal: Principal): boolean;
}

/** Upstreams come and go, and clients read this once: so it says all that any of them may have. */
const CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** A toolset has tools only. */
const TOOLSET_CAPABILITIES: JsonObject = { tools: { listChanged: true }, logging: {} };

/** The arsenal's tools, and everything else that its MCP servers have, as one MCP server. */
export function aggregatePlane(parts: AggregateParts): Plane {
  const { arsenal, mode, toolset, upstreams, clock = systemClock, startup = STARTED } = parts;
  // What a client carries or names is good at one plane only: no session or sealed state of one toolset opens at another.
  const name = toolset === undefined ? "aggregate" : `toolset/${toolset.name}`;
  /** The servers whose resources and prompts are served. */
  const listed = toolset === undefined ? upstreams : () => [];
  const changes = createChanges({ ...parts, upstreams: listed, clock });
  const metaTools = createMetaTools({ arsenal, startup });
  const common = commonTools();
  const heard = (event: ArsenalEvent): void => {
    // What dynamic mode lists never changes.
    if (event.name !== "ensemble-accepted") return void (mode !== "dynamic" && changes.changed("tools"));
    if (toolset !== undefined) return;
    changes.changed("resources");
    changes.changed("prompts");
  };
  const endWatch = arsenal.subscribe(heard, { names: [...CHANGES_TOOLS, "ensemble-accepted"] });
  const request: Omit<AnswerParts, "sessionLevel"> = {
    arsenal,
    metaTools,
    common,
    mode,
    startup,
    seal: parts.seal,
    plane: name,
    upstream: (wanted) => upstreams().find((upstream) => upstream.name === wanted),
    listings: createListings({
      arsenal,
      upstreams: listed,
      clock,
      late: (listing) => changes.changed(listOf(listing)),
    }),
  };
  const sessions = new Set<PlaneSession>();

  function commonTools(): CommonTools {
    if (mode !== "hybrid") return configuredTools([]);
    if (parts.common !== undefined && parts.common.length > 0) return configuredTools(parts.common);
    return learnedTools({ arsenal, clock, changed: () => changes.changed("tools") });
  }

  /** Tells a client of changes for as long as it may use what is served. */
  const toAdmitted =
    ({ principal }: Peer, push: Push): Push =>
    (notification) => {
      if (toolset === undefined || toolset.admits(principal)) push(notification);
    };

  const subscribing =
    (client: Pick<Exchange, "peer" | "ask">): Subscribe =>
    async ({ upstream, uri }, until) => {
      const exchange = { ...client, method: "resources/subscribe", params: { uri }, signal: until };
      const subscribed = await guardedRequest(exchange, { upstream, params: { uri }, context: { until } }, arsenal);
      if (subscribed === undefined) throw unknownResource(toServedUri(upstream.name, uri));
    };

  async function describe(): Promise<ServerDescription> {
    const capabilities = toolset === undefined ? CAPABILITIES : TOOLSET_CAPABILITIES;
    const offer =
      toolset === undefined ? offerOf(upstreams().map((upstream) => upstream.name)) : offerOfToolset(toolset);
    return { info: parts.info, capabilities, instructions: instructionsFor(mode, offer) };
  }

  const shared: PlaneSession = {
    describe,
    handle: (exchange) => answerRequest(exchange, request, undefined),
    notified: () => undefined,
    close: async () => undefined,
  };

  return {
    name,
    shared,
    async openSession(peer, { push, ask }) {
      const subscriptions = createSubscriptions(subscribing({ peer, ask }));
      const forget = changes.add({ push: toAdmitted(peer, push), wants: () => true, watches: subscriptions.watches });
      const own: SessionState = { level: undefined, subscriptions };
      const session: PlaneSession = {
        ...shared,
        handle: (exchange) => answerRequest(exchange, request, own),
        async close() {
          sessions.delete(session);
          forget();
          subscriptions.close();
        },
      };
      sessions.add(session);
      return session;
    },
    async listen(filter, push, { peer, signal }) {
      const subscriptions = createSubscriptions(subscribing({ peer, ask: nobodyToAsk }));
      const { lists, uris } = readFilter(filter);
      const forget = changes.add({
        push: toAdmitted(peer, push),
        wants: (list) => lists.includes(list),
        watches: subscriptions.watches,
      });
      const end = (): void => {
        forget();
        subscriptions.close();
      };
      signal.addEventListener("abort", end, { once: true });
      // Resources that cannot be subscribed to are left out.
      const added = await Promise.allSettled(
        uris.map(async (uri) => subscriptions.add(findResource(uri, request.upstream))),
      );
      if (signal.aborted) end();
      return toFilter(
        lists,
        uris.filter((_, index) => added[index]?.status === "fulfilled"),
      );
    },
    async close() {
      await Promise.all([...sessions].map((session) => session.close()));
      endWatch();
      startup.close();
      common.close();
      metaTools.close();
      changes.close();
    },
  };
}

function offerOfToolset({ name, description }: ServedToolset): string {
  return [`This server offers the tools of the toolset ${name}.`, description()]
    .filter((text) => text !== "")
    .join(" ");
}
