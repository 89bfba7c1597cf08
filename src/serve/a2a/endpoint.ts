import { AgentCard } from "@a2a-js/sdk";
import type { AgentExecutor } from "@a2a-js/sdk/server";
import type { OutgoingHttpHeaders } from "node:http";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Limits } from "../../state/limits.port.ts";
import { sha256 } from "../../base/crypto.ts";
import { answerText, refuseMethod } from "../http/answer.ts";
import type { HttpExchange, Route } from "../surface.ts";
import type { Replica } from "../replica.ts";
import { createWork, type Work } from "../work.ts";
import { createAdmission } from "./admission.ts";
import { baseOf } from "./call-context.ts";
import { card03, cardOfBoth } from "./bindings/card-03.ts";
import { createHttpJson } from "./bindings/http-json.ts";
import { createJsonRpc, versionOf } from "./bindings/json-rpc.ts";
import { createStreams } from "./bindings/stream.ts";
import { A2A_ROUTES } from "./routes.ts";
import { replicateTasks } from "./tasks/replicated-tasks.ts";
import { createTaskHandler, type TaskHandler, type TaskParts } from "./tasks/task-handler.ts";
import { createSharedTasks } from "./tasks/task-store.ts";

export interface A2aEndpointParts {
  readonly executor: AgentExecutor;
  /** Returns the public card for a reader that uses the base URL `base`: `https://tools.example.com`. Called for each request. */
  card(base: string): Promise<AgentCard> | AgentCard;
  /** The agent's abilities and interfaces: the constant part of the card. */
  readonly abilities: AgentCard;
  readonly extendedCard?: TaskParts["extendedCard"];
  /** The store of tasks, and the processes that share it. */
  readonly replica: Replica;
  /** Time for which a task is kept after its last change. */
  readonly ttlMs: number;
  readonly push?: TaskParts["push"];
  /** Rate limit for messages of a remote caller. Defaults to 600 per minute. */
  readonly messagesPerMinute?: number;
  /** Counts rates. If omitted, there is no rate limit. */
  readonly limits?: Pick<Limits, "admit"> | undefined;
  /** Tracks running work, which shutting down waits for. */
  readonly work?: Work;
  /** The format of the card for readers that send no `A2A-Version`. Defaults to `both`: 1.0 with the additional fields of 0.3. */
  readonly unversionedCard?: "1.0" | "0.3" | "both";
  readonly clock?: Clock;
}

/** The routes of one agent: its card, JSON-RPC and HTTP+JSON, in versions 1.0 and 0.3. */
export interface A2aEndpoint {
  readonly routes: readonly Route[];
  /** Ends open streams. */
  close(): void;
}

/** Serves an SDK `AgentExecutor` on the host, at `/a2a`, with HTTP+JSON below `/a2a/v1`. */
export function createA2aEndpoint(parts: A2aEndpointParts): A2aEndpoint {
  const { executor, abilities: card, replica, ttlMs, push, extendedCard } = parts;
  const { work = createWork(), unversionedCard = "both", clock = systemClock, messagesPerMinute = 600, limits } = parts;
  const store = createSharedTasks(replica, { ttlMs, isRunning: (...given) => own.isRunning(...given) });
  const own: TaskHandler = createTaskHandler({ card, executor, store, work, push, extendedCard });
  const handler = replicateTasks(own, { replica, tasks: store });
  const streams = createStreams({ clock });
  const admission = createAdmission({ tasks: store, limits, messagesPerMinute });
  const common = { handler, streams, work, admission };

  async function cardFor(version: "1.0" | "0.3" | "both", base: string): Promise<unknown> {
    const shown = await parts.card(base);
    if (version === "1.0") return AgentCard.toJSON(shown);
    return version === "0.3" ? card03(shown) : cardOfBoth(shown);
  }

  /** The time at which this process first served the current card, by format. */
  const seen = new Map<string, { readonly etag: string; readonly at: string }>();
  function changedAt(version: string, etag: string): string {
    const known = seen.get(version);
    if (known?.etag === etag) return known.at;
    const at = new Date(clock.now()).toUTCString();
    seen.set(version, { etag, at });
    return at;
  }

  const cardAt = (byDefault: "1.0" | "0.3" | "both"): Pick<Route, "handle"> => ({
    async handle(exchange) {
      const { request, response } = exchange;
      if (request.method !== "GET" && request.method !== "HEAD") return refuseMethod(response, "GET, HEAD");
      const asked = request.headers["a2a-version"];
      const version = asked === undefined ? byDefault : (versionOf(asked, () => "1.0") ?? byDefault);
      const json = JSON.stringify(await cardFor(version, baseOf(request)));
      const etag = `"${sha256(json, "base64url").slice(0, 22)}"`;
      answerCard(exchange, json, { etag, "last-modified": changedAt(version, etag) });
    },
  });

  const jsonRpc = { handle: createJsonRpc(common) };
  const handlers: Readonly<Record<(typeof A2A_ROUTES)[number]["path"], Pick<Route, "handle" | "template">>> = {
    "/.well-known/agent-card.json": cardAt(unversionedCard),
    "/.well-known/agent.json": cardAt("0.3"),
    "/a2a": jsonRpc,
    "/a2a/": jsonRpc,
    "/a2a/v1/": createHttpJson({ ...common, base: "/a2a/v1" }),
  };
  return {
    routes: A2A_ROUTES.map((route) => ({ ...route, ...handlers[route.path] })),
    close() {
      streams.close();
      handler.close();
    },
  };
}

/** Answers with a card, or with 304 if the reader already has it. */
function answerCard(
  { request, response }: HttpExchange,
  json: string,
  validators: { readonly etag: string; readonly "last-modified": string },
): void {
  const headers: OutgoingHttpHeaders = {
    ...validators,
    "cache-control": "public, max-age=60",
    vary: "A2A-Version, Origin",
  };
  if (request.headers["if-none-match"]?.includes(validators.etag) === true)
    return void response.writeHead(304, headers).end();
  answerText(response, 200, json, headers);
}
