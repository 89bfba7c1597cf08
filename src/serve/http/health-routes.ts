import { answerJson, refuseMethod } from "./answer.ts";
import type { HttpExchange, Route } from "./http-server.ts";

/** How one configured upstream fares, as far as readiness is concerned. */
export interface UpstreamHealth {
  readonly name: string;
  readonly state: { readonly kind: "connecting" | "connected" | "failed" | "closed" };
  /** True once the first attempt to connect has ended, well or not. Where absent, it has ended for every state but `connecting`. */
  readonly attempted?: boolean;
}

/**
 * `/healthz`, 200 as long as the process answers, and `/readyz`, 503 until every upstream has connected or failed once. An upstream that
 * is lost later does not make the gateway unready: it serves the others. Both answer whoever asks, so upstreams are named only where every
 * caller is the operator.
 */
export function healthRoutes(
  upstreams: () => Iterable<UpstreamHealth>,
  { named = true }: { readonly named?: boolean } = {},
): readonly Route[] {
  return [
    { path: "/healthz", open: true, handle: reading(({ response }) => answerJson(response, 200, { status: "ok" })) },
    {
      path: "/readyz",
      open: true,
      handle: reading(({ response }) => {
        const all = [...upstreams()];
        const ready = all.every(({ state, attempted }) => attempted ?? state.kind !== "connecting");
        const states = Object.fromEntries(all.map(({ name, state }) => [name, state.kind]));
        const connected = all.filter(({ state }) => state.kind === "connected").length;
        answerJson(response, ready ? 200 : 503, named ? { upstreams: states } : { upstreams: all.length, connected });
      }),
    },
  ];
}

function reading(answer: (exchange: HttpExchange) => void): (exchange: HttpExchange) => void {
  return (exchange) => {
    const { method } = exchange.request;
    if (method === "GET" || method === "HEAD") answer(exchange);
    else refuseMethod(exchange.response, "GET, HEAD");
  };
}
