import { answerJson, refuseMethod } from "./http/answer.ts";
import type { HttpExchange, Surface, SurfaceContext } from "./surface.ts";

/**
 * `/healthz`, 200 as long as the process answers, and `/readyz`, 503 until every upstream has connected or failed once, while a surface has a
 * problem, and while the gateway shuts down. An upstream that is lost later does not make the gateway unready: it serves the others. Anybody
 * may ask, so upstreams and surfaces are named only if every caller is the operator.
 */
export function healthSurface(
  context: Pick<SurfaceContext, "arsenal" | "startup" | "work" | "isLocal" | "surfaces">,
): Surface {
  const { arsenal, startup, work, isLocal, surfaces } = context;

  function readiness({ response }: HttpExchange): void {
    const { upstreams } = arsenal;
    const problems = surfaces().flatMap((surface): [string, string][] => {
      const problem = surface.problem?.();
      return problem === undefined ? [] : [[surface.name, problem]];
    });
    const connected = upstreams.filter(({ state }) => state.kind === "connected").length;
    const said = isLocal
      ? { upstreams: Object.fromEntries(upstreams.map(({ name, state }) => [name, state.kind])) }
      : { upstreams: upstreams.length, connected };
    const isReady = startup.connecting().length === 0 && problems.length === 0 && !work.stopping;
    answerJson(response, isReady ? 200 : 503, {
      ...(work.stopping && { draining: true }),
      ...said,
      ...(isLocal && problems.length > 0 && { problems: Object.fromEntries(problems) }),
    });
  }

  return {
    name: "health",
    routes: [
      { path: "/healthz", open: true, handle: reading(({ response }) => answerJson(response, 200, { status: "ok" })) },
      { path: "/readyz", open: true, handle: reading(readiness) },
    ],
    addresses: [
      ["/healthz", "Answers as long as the gateway runs."],
      ["/readyz", "Says whether every server has been tried."],
    ],
  };
}

function reading(answer: (exchange: HttpExchange) => void): (exchange: HttpExchange) => void {
  return (exchange) => {
    const { method } = exchange.request;
    if (method === "GET" || method === "HEAD") answer(exchange);
    else refuseMethod(exchange.response, "GET, HEAD");
  };
}
