import { answerJson, refuseMethod } from "./answer.ts";
import type { HttpExchange, Route } from "./http-server.ts";

/** How one configured upstream fares, as far as readiness is concerned. */
export interface UpstreamHealth {
  readonly name: string;
  readonly state: { readonly kind: "connecting" | "connected" | "failed" | "closed" };
  /** True once the first attempt to connect has ended, well or not. Where absent, it has ended for every state but `connecting`. */
  readonly attempted?: boolean;
}

/** What health answers may tell, and whether the gateway still takes requests. */
export interface HealthOptions {
  /** Whether upstreams are named. Default true. */
  readonly named?: boolean;
  /** True while the gateway closes and takes no new requests. */
  readonly draining?: () => boolean;
}

/**
 * `/healthz`, 200 as long as the process answers, and `/readyz`, 503 until every upstream has connected or failed once, and again while the
 * gateway drains. An upstream that is lost later does not make the gateway unready: it serves the others. Anybody may ask, so upstreams are
 * named only if every caller is the operator.
 */
export function healthRoutes(
  upstreams: () => Iterable<UpstreamHealth>,
  { named = true, draining = () => false }: HealthOptions = {},
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
        const told = named ? { upstreams: states } : { upstreams: all.length, connected };
        const isDraining = draining();
        answerJson(response, ready && !isDraining ? 200 : 503, isDraining ? { draining: true, ...told } : told);
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
