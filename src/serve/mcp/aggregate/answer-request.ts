import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import { type JsonObject, META, RPC, RpcError } from "../../../mcp/protocol.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { withConnecting } from "../../startup.ts";
import { mayKnow, wrongReference } from "../guarded-request.ts";
import type { Exchange } from "../plane.ts";
import { type ListedKind, pageOf, servedList } from "./listings.ts";
import { type LogLevel, toLogLevel } from "./relay.ts";
import { withServedUri } from "./resources/resource-uri.ts";
import { servedSkill } from "./skills.ts";
import { findPrompt, unknownPrompt } from "./resources/prompt-name.ts";
import { findResource, type Subscriptions, unknownResource } from "./resources/subscriptions.ts";
import { callNamed, listTools } from "./tools/answer-tools.ts";
import { type AnswerParts, requestUpstream } from "./upstream-request.ts";

/** The aggregate's state for one legacy client. */
export interface SessionState {
  level: LogLevel | undefined;
  readonly subscriptions: Subscriptions;
}

type AggregateHandler = (exchange: Exchange, parts: AnswerParts) => Promise<JsonObject>;
type SessionAnswer = (exchange: Exchange, parts: AnswerParts, session: SessionState) => Promise<JsonObject>;

/** The handlers of requests that every client can make. */
const ANSWERS: Readonly<Record<string, AggregateHandler>> = {
  ping: async () => ({}),
  "tools/list": listTools,
  "tools/call": callNamed,
  "resources/list": listing("resources"),
  "resources/templates/list": listing("resourceTemplates"),
  "prompts/list": listing("prompts"),
  "resources/read": async (exchange, parts) => ask(exchange, parts, resourceAt(exchange.params["uri"], parts)),
  "prompts/get": async (exchange, parts) =>
    ask(exchange, parts, await promptNamed(exchange.params["name"], exchange, parts)),
  /** Forwards to the upstream that owns the prompt or template. An upstream without completions returns no values. */
  async "completion/complete"(exchange, parts) {
    const ref = isPlainObject(exchange.params["ref"]) ? exchange.params["ref"] : {};
    if (ref["type"] !== "ref/prompt" && ref["type"] !== "ref/resource") throw wrongReference();
    const isPrompt = ref["type"] === "ref/prompt";
    const target = isPrompt ? await promptNamed(ref["name"], exchange, parts) : resourceAt(ref["uri"], parts);
    const { state } = target.upstream;
    if (state.kind !== "connected" || state.server.capabilities["completions"] !== undefined)
      return ask(exchange, parts, { ...target, own: { ref: { ...ref, ...target.own } } });
    const tool = isPrompt ? "prompts/get" : "resources/read";
    if (!(await mayKnow(target.upstream, tool, exchange.peer.principal, parts.arsenal))) throw target.unknown();
    return { completion: { values: [] } };
  },
};

/** Handlers of requests about skills, which upstreams serve as resources. */
const skillAnswers: Readonly<Record<string, AggregateHandler>> = {
  async "skills/list"({ params, peer, signal }, { skills, startup }) {
    await startup.wait(signal);
    return pageOf("skills", await skills(peer.principal), params["cursor"]);
  },
  async "skills/get"(exchange, parts) {
    const target = resourceAt(exchange.params["uri"], parts);
    const { skill, ...answer } = await ask(exchange, parts, target);
    return { ...answer, skill: servedSkill(skill, target.upstream.name) };
  },
  async "resources/directory/read"(exchange, parts) {
    const target = resourceAt(exchange.params["uri"], parts);
    const { resources, ...answer } = await ask(exchange, parts, target);
    const all = Array.isArray(resources) ? resources : [];
    return { ...answer, resources: all.map((each) => withServedUri(each, target.upstream.name)) };
  },
};

/** The handlers of requests that need a session. */
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

const answers = new Map(Object.entries({ ...ANSWERS, ...skillAnswers }));
const sessionAnswers = new Map(Object.entries(SESSION_ANSWERS));

export const AGGREGATE_METHODS: readonly string[] = [...answers.keys(), ...sessionAnswers.keys()];

/** Answers one request of a client. `session` is undefined for a modern client. */
export function answerRequest(
  given: Exchange,
  request: Omit<AnswerParts, "sessionLevel">,
  session: SessionState | undefined,
): Promise<JsonObject> {
  const exchange = withLogLevel(given, session?.level);
  const { method } = exchange;
  const parts: AnswerParts = { ...request, sessionLevel: session?.level };
  const answer = answers.get(method);
  if (answer !== undefined) return answer(exchange, parts);
  const inSession = session === undefined ? undefined : sessionAnswers.get(method);
  if (session !== undefined && inSession !== undefined) return inSession(exchange, parts, session);
  return Promise.reject(new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` }));
}

interface Target {
  readonly upstream: McpUpstream;
  /** The members of the request that name the entry, as the upstream spells them. */
  readonly own: JsonObject;
  /** Creates the error for a client that may not see the entry. */
  readonly unknown: () => RpcError;
}

function resourceAt(served: unknown, parts: AnswerParts): Target {
  const { upstream, uri } = findResource(served, parts.upstream);
  return { upstream, own: { uri }, unknown: () => unknownResource(served) };
}

async function promptNamed(name: unknown, { peer }: Exchange, parts: AnswerParts): Promise<Target> {
  const { upstream, prompt } = await findPrompt(name, peer.principal, parts);
  return { upstream, own: { name: prompt }, unknown: () => unknownPrompt(name) };
}

async function ask(exchange: Exchange, parts: AnswerParts, { upstream, own, unknown }: Target): Promise<JsonObject> {
  const answer = await requestUpstream(exchange, upstream, own, parts);
  if (answer === undefined) throw unknown();
  return answer;
}

/** Answers with a page of one of the upstreams' lists, after a connection to every upstream was attempted. */
function listing(kind: ListedKind): AggregateHandler {
  return async ({ params, peer, signal }, { listings, startup }) => {
    await startup.wait(signal);
    const all = await servedList(kind, peer.principal, listings);
    return withConnecting(pageOf(kind, all, params["cursor"]), startup.shown());
  };
}

/**
 * Sets the log level of the session in the request. A modern upstream sends log messages only to requests with a level; an older client sets the
 * level once for its session.
 */
function withLogLevel(exchange: Exchange, level: LogLevel | undefined): Exchange {
  if (level === undefined) return exchange;
  const { _meta } = exchange.params;
  const meta = { ...(isPlainObject(_meta) ? _meta : {}), [META.logLevel]: level };
  return { ...exchange, params: { ...exchange.params, _meta: meta } };
}
