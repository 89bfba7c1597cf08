import { createProbe, type Dependency } from "./dependencies.ts";
import { visibleText } from "../errors/visible-text.ts";
import { answerJson, answerText, refuseMethod } from "./http/answer.ts";
import type { HttpExchange, Surface, SurfaceContext } from "./surface.ts";

const WITHOUT: Readonly<Record<Dependency, string>> = {
  catalog: "does not answer: tools cannot be listed or searched",
  audit: "cannot be written: calls that must be recorded are refused",
  state: "does not answer: what needs an approval, pin or idempotency key is refused",
};

/**
 * Serves `/healthz`, which is 200 while the process answers, and `/readyz`. The latter is 503 until a connection to every upstream was attempted,
 * while a dependency is unavailable, and during shutdown. Upstreams that disconnect later have no effect. Both routes are public, so only the
 * operator sees names and reasons.
 */
export function healthSurface(
  context: Pick<SurfaceContext, "arsenal" | "startup" | "work" | "isLocal" | "surfaces" | "dependencies">,
): Surface {
  const { arsenal, startup, work, isLocal, surfaces, dependencies } = context;
  const probe = dependencies && createProbe(dependencies);

  async function readiness({ response }: HttpExchange): Promise<void> {
    const broken = work.stopping ? [] : ((await probe?.()) ?? []);
    const { upstreams } = arsenal;
    const problems = surfaces().flatMap((surface): [string, string][] => {
      const problem = surface.problem?.();
      return problem === undefined ? [] : [[surface.name, problem]];
    });
    problems.push(...broken.filter((name) => name !== "state").map((name): [string, string] => [name, WITHOUT[name]]));
    const connected = upstreams.filter(({ state }) => state.kind === "connected").length;
    const said = isLocal
      ? { upstreams: Object.fromEntries(upstreams.map(({ name, state }) => [name, state.kind])) }
      : { upstreams: upstreams.length, connected };
    const isReady = startup.connecting().length === 0 && problems.length === 0 && !work.stopping;
    const body = {
      ...(work.stopping && { draining: true }),
      ...said,
      ...(isLocal && problems.length > 0 && { problems: Object.fromEntries(problems) }),
      ...(isLocal && broken.includes("state") && { degraded: { state: WITHOUT.state } }),
    };
    answerText(response, isReady ? 200 : 503, visibleText(JSON.stringify(body)));
  }

  return {
    name: "health",
    routes: [
      { path: "/healthz", open: true, handle: reading(({ response }) => answerJson(response, 200, { status: "ok" })) },
      { path: "/readyz", open: true, handle: reading(readiness) },
    ],
    addresses: [
      ["/healthz", "Answers as long as the gateway runs."],
      ["/readyz", "Shows whether it can take requests: every server has been tried, and every dependency works."],
    ],
  };
}

function reading(
  answer: (exchange: HttpExchange) => Promise<void> | void,
): (exchange: HttpExchange) => Promise<void> | void {
  return (exchange) => {
    const { method } = exchange.request;
    if (method === "GET" || method === "HEAD") return answer(exchange);
    refuseMethod(exchange.response, "GET, HEAD");
  };
}
