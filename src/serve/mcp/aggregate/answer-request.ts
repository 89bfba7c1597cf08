import { type JsonObject, META, RPC, RpcError } from "../../../mcp/protocol.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { mayKnow } from "../guarded-request.ts";
import type { Exchange } from "../plane.ts";
import { callNamed, listTools, type ToolsParts } from "./tools/answer-tools.ts";
import { completeArgument } from "./resources/complete-argument.ts";
import { findPrompt, unknownPrompt } from "./resources/prompt-name.ts";
import { type AllListings, type Listings, servedPrompts, servedResources, servedTemplates } from "./listings.ts";
import { type LogLevel, toLogLevel } from "./relay.ts";
import { pageOf } from "./page.ts";
import { findResource, type Subscriptions, unknownResource } from "./resources/subscriptions.ts";
import { requestUpstream } from "./upstream-request.ts";
import { withConnecting } from "../../startup.ts";

/** What answering any request needs. */
export interface RequestParts extends Omit<ToolsParts, "sessionLevel"> {
  readonly listings: AllListings;
}

/** What the aggregate keeps of one legacy client. */
export interface SessionState {
  level: LogLevel | undefined;
  readonly subscriptions: Subscriptions;
}

/** What answering one request needs: the lists are those that its client may see. */
interface AnswerParts extends ToolsParts {
  readonly listings: Listings;
}

type Answer = (exchange: Exchange, parts: AnswerParts) => Promise<JsonObject>;
type SessionAnswer = (exchange: Exchange, parts: AnswerParts, session: SessionState) => Promise<JsonObject>;

/** The requests that every client can make, and what answers each. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  ping: async () => ({}),
  "tools/list": listTools,
  "tools/call": callNamed,
  "resources/list": listing("resources", servedResources),
  "resources/templates/list": listing("resourceTemplates", servedTemplates),
  "prompts/list": listing("prompts", servedPrompts),
  async "resources/read"(exchange, parts) {
    const { uri: served } = exchange.params;
    const { upstream, uri } = findResource(served, parts.upstream);
    return (await requestUpstream(exchange, upstream, { uri }, parts)) ?? refuse(unknownResource(served));
  },
  async "prompts/get"(exchange, parts) {
    const { name } = exchange.params;
    const { upstream, prompt } = await findPrompt(name, parts);
    return (await requestUpstream(exchange, upstream, { name: prompt }, parts)) ?? refuse(unknownPrompt(name));
  },
  "completion/complete": completeArgument,
};

/** The requests that only a client with a session can make. */
const SESSION_ANSWERS: Readonly<Record<string, SessionAnswer>> = {
  async "resources/subscribe"({ params }, { upstream }, { subscriptions }) {
    await subscriptions.add(findResource(params["uri"], upstream));
    return {};
  },
  async "resources/unsubscribe"({ params, peer }, { upstream, arsenal }, { subscriptions }) {
    const resource = findResource(params["uri"], upstream);
    if (!(await mayKnow(resource.upstream, "resources/read", peer.principal, arsenal)))
      throw unknownResource(params["uri"]);
    subscriptions.remove(resource);
    return {};
  },
  async "logging/setLevel"({ params }, _parts, session) {
    session.level = toLogLevel(params["level"]);
    return {};
  },
};

const answers = new Map(Object.entries(ANSWERS));
const sessionAnswers = new Map(Object.entries(SESSION_ANSWERS));

/** The methods that the aggregate answers. */
export const AGGREGATE_METHODS: readonly string[] = [...answers.keys(), ...sessionAnswers.keys()];

/** Answers one request of a client. `session` is absent for a modern one. */
export async function answerRequest(
  given: Exchange,
  request: RequestParts,
  session: SessionState | undefined,
): Promise<JsonObject> {
  const exchange = withLogLevel(given, session?.level);
  const { method, peer } = exchange;
  const listings = request.listings.seenBy(peer.principal);
  const parts: AnswerParts = { ...request, listings, sessionLevel: session?.level };
  const answer = answers.get(method);
  if (answer !== undefined) return answer(exchange, parts);
  const inSession = session === undefined ? undefined : sessionAnswers.get(method);
  if (session !== undefined && inSession !== undefined) return inSession(exchange, parts, session);
  throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
}

function refuse(error: RpcError): never {
  throw error;
}

/** Answers with a page of one of the upstreams' lists, once the upstreams have been tried. */
function listing(key: string, read: (listings: Listings) => Promise<readonly JsonObject[]>): Answer {
  return async ({ params, signal }, { listings, startup }) => {
    await startup.wait(signal);
    const { entries, cursor } = pageOf(await read(listings), params["cursor"]);
    return withConnecting({ [key]: entries, ...cursor }, startup.connecting());
  };
}

/** A modern upstream sends log messages only to requests that say a level, which an older client says once for its session. */
function withLogLevel(exchange: Exchange, level: LogLevel | undefined): Exchange {
  if (level === undefined) return exchange;
  const { _meta } = exchange.params;
  const meta = { ...(isPlainObject(_meta) ? _meta : {}), [META.logLevel]: level };
  return { ...exchange, params: { ...exchange.params, _meta: meta } };
}
