import type { ServerDescription } from "../../../mcp/connection.ts";
import { ownIdentity } from "../../../mcp/client-identity.ts";
import type { JsonObject } from "../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { ArsenalEvent } from "../../../observe/events.ts";
import { quirksOf } from "../client-quirks.ts";
import { guardedRequest } from "../guarded-request.ts";
import { type Exchange, nobodyToAsk, type Peer, type Plane, type PlaneSession, type Push } from "../plane.ts";
import type { Seal } from "../modern/seal.ts";
import { type Startup, STARTED } from "../../startup.ts";
import { answerRequest, type SessionState } from "./answer-request.ts";
import { listOf, readFilter, toFilter } from "../subscription.ts";
import { BESIDES_TOOLS, createChanges } from "./changes.ts";
import { type CommonTools, configuredTools, learnedTools } from "../../meta-tools/hybrid-tools.ts";
import { codeOf } from "../../meta-tools/code-tools.ts";
import { instructionsFor, offerOf } from "../../meta-tools/definitions.ts";
import { createMetaTools } from "../../meta-tools/meta-tools.ts";
import { EXTENSIONS, withExtensions } from "../../../mcp/extensions.ts";
import { listSkills, offersSkills } from "./skills.ts";
import { createListings } from "./listings.ts";
import { CHANGES_TOOLS, type ServableArsenal, type ServedArsenal } from "../../served-arsenal.ts";
import { descriptionOf, mayUse } from "../../scoped-arsenal.ts";
import type { Serving } from "../../surface.ts";
import { createSubscriptions, findResource, type Subscribe, unknownResource } from "./resources/subscriptions.ts";
import { toServedUri } from "./resources/resource-uri.ts";
import type { AnswerParts } from "./upstream-request.ts";

export interface AggregateParts extends Pick<Serving, "mode" | "common" | "toolset" | "clientQuirks"> {
  readonly arsenal: ServedArsenal & Pick<ServableArsenal, "toolsets">;
  /** Returns the current MCP servers. A toolset is served without their resources and prompts. */
  readonly upstreams: () => readonly McpUpstream[];
  /** Seals the request state of upstreams. */
  readonly seal: Seal;
  readonly clock?: Clock;
  /** The servers that are still connecting. Defaults to none. */
  readonly startup?: Startup;
}

/** Clients read the capabilities once, so all capabilities that any upstream may have are declared. */
const CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

const TOOLSET_CAPABILITIES: JsonObject = { tools: { listChanged: true }, logging: {} };

/** Serves the arsenal's tools, and the resources and prompts of its MCP servers, as one MCP server. */
export function aggregatePlane(parts: AggregateParts): Plane {
  const { arsenal, mode, toolset, upstreams, clock = systemClock, startup = STARTED } = parts;
  // Sessions and sealed states are valid at only one plane: the state of one toolset cannot be opened at another.
  const name = toolset === undefined ? "aggregate" : `toolset/${toolset}`;
  const listed = toolset === undefined ? upstreams : () => [];
  const changes = createChanges(listed, clock);
  const metaTools = createMetaTools({ arsenal, startup });
  const common = commonTools();
  // Prepares a thread for the first program. If that fails, the program fails with the same reason.
  if (mode === "code")
    codeOf(arsenal).then(
      ({ prepare }) => prepare(),
      () => {},
    );
  const heard = (event: ArsenalEvent): void => {
    if (event.name === "ensemble-connected" || event.name === "ensemble-disconnected") changes.follow();
    else if (event.name === "ensemble-accepted") changes.changed(...(toolset === undefined ? BESIDES_TOOLS : []));
    // The list in dynamic mode does not depend on tools.
    else if (mode !== "dynamic") changes.changed("tools");
  };
  const names = [...CHANGES_TOOLS, "ensemble-accepted", "ensemble-connected", "ensemble-disconnected"] as const;
  const endWatch = arsenal.subscribe(heard, { names });
  const request: Omit<AnswerParts, "sessionLevel"> = {
    arsenal,
    metaTools,
    common,
    mode,
    startup,
    quirksOf: parts.clientQuirks === false ? () => ({}) : quirksOf,
    seal: parts.seal,
    plane: name,
    upstream: (wanted) => upstreams().find((upstream) => upstream.name === wanted),
    skills: (principal) => listSkills(listed(), principal, arsenal),
    hasSkills: () => listed().some(offersSkills),
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
    if (parts.common?.length) return configuredTools(parts.common);
    return learnedTools({ arsenal, clock, changed: () => changes.changed("tools") });
  }

  /** Notifies a client of changes while it may use the plane. */
  const toAdmitted =
    ({ principal }: Peer, push: Push): Push =>
    (notification) => {
      if (mayUse(parts, principal)) push(notification);
    };

  const subscribing =
    (client: Pick<Exchange, "peer" | "ask">): Subscribe =>
    async ({ upstream, uri }, until) => {
      const exchange = { ...client, method: "resources/subscribe", params: { uri }, signal: until };
      const subscribed = await guardedRequest(exchange, { upstream, params: { uri }, context: { until } }, arsenal);
      if (subscribed === undefined) throw unknownResource(toServedUri(upstream.name, uri));
    };

  async function describe(): Promise<ServerDescription> {
    const { info } = ownIdentity();
    if (toolset === undefined) {
      const offer = offerOf([...new Set([...startup.expected(), ...upstreams().map((upstream) => upstream.name)])]);
      const hasSkills = upstreams().some(offersSkills);
      const capabilities = hasSkills
        ? withExtensions(CAPABILITIES, { [EXTENSIONS.skills]: { directoryRead: true } })
        : CAPABILITIES;
      return { info, capabilities, instructions: instructionsFor(mode, offer) };
    }
    const offer = `This server offers the tools of the toolset ${toolset}. ${descriptionOf(arsenal, toolset)}`.trim();
    return { info, capabilities: TOOLSET_CAPABILITIES, instructions: instructionsFor(mode, offer) };
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
