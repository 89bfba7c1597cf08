import { type Clock, systemClock } from "../observe/clock.ts";
import { answerJson, refuseMethod } from "./http/answer.ts";
import type { HttpExchange, Surface, SurfaceContext } from "./surface.ts";

/** What the gateway cannot do without each dependency. */
const WITHOUT: Readonly<Record<Dependency, string>> = {
  catalog: "does not answer: tools cannot be listed or searched",
  audit: "cannot be written: calls that must be recorded are refused",
  state: "does not answer: what needs an approval, pin or idempotency key is refused",
};

/**
 * `/healthz`, 200 while the process answers, and `/readyz`, 503 until every upstream was tried, while something it depends on is away, and during
 * shutdown. An upstream that is lost later does not matter. Anybody may ask, so names and reasons are for the operator only.
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
    answerJson(response, isReady ? 200 : 503, {
      ...(work.stopping && { draining: true }),
      ...said,
      ...(isLocal && problems.length > 0 && { problems: Object.fromEntries(problems) }),
      ...(isLocal && broken.includes("state") && { degraded: { state: WITHOUT.state } }),
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
      ["/readyz", "Says whether it can take requests: every server has been tried, and nothing it depends on is away."],
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

export type Dependency = "catalog" | "audit" | "state";

/** Tells of each dependency whether it works now. One that rejects or hangs does not work. */
export type Dependencies = Readonly<Record<Dependency, () => Promise<boolean>>>;

/** How long an answer is kept: anybody may ask, and a store should not feel it. */
const KEPT_MS = 2_000;

/** A dependency that takes longer does not work. */
const CHECK_MS = 2_000;

/** Creates a function that lists the dependencies that do not work. It looks every two seconds at most, and answers within two. */
export function createProbe(
  dependencies: Dependencies,
  clock: Clock = systemClock,
): () => Promise<readonly Dependency[]> {
  const running = new Map<Dependency, Promise<boolean>>();
  let lookedAt = -Infinity;
  let found: Promise<readonly Dependency[]> | undefined;

  /** One check at a time: one that hangs is not asked again. */
  function check(name: Dependency): Promise<boolean> {
    const known = running.get(name);
    if (known !== undefined) return known;
    const checking = dependencies[name]()
      .catch(() => false)
      .finally(() => running.delete(name));
    running.set(name, checking);
    return checking;
  }

  async function works(name: Dependency): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const cancel = clock.after(CHECK_MS, () => resolve(false), { background: true });
    return Promise.race([check(name), late]).finally(cancel);
  }

  async function look(): Promise<readonly Dependency[]> {
    const names = Object.keys(dependencies) as readonly Dependency[];
    const working = await Promise.all(names.map(works));
    return names.filter((_, index) => working[index] === false);
  }

  return () => {
    if (found === undefined || clock.now() - lookedAt >= KEPT_MS) {
      lookedAt = clock.now();
      found = look();
    }
    return found;
  };
}
