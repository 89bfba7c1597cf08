import { fixable } from "../errors/arsenal-error.ts";
import { answerWithProblem, requestIdOf, toProblem } from "./http/problem.ts";
import { createIntake } from "./http/intake.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "./http/http-server.ts";
import type { ServedGateway } from "./serve-arsenal.ts";
import type { CreateSurface, Route, Serving, Surface, SurfaceContext } from "./surface.ts";
import { retryAfter, shuttingDown, type Work } from "./work.ts";

export interface HostOptions extends Omit<HttpServerOptions, "routes" | "seal"> {
  /** Time for which a closing host waits for running calls, in milliseconds. */
  readonly drainMs: number;
  /** Time after `close` in which the host still accepts requests while `/readyz` reports that it is not ready, in milliseconds. Defaults to 0. */
  readonly shutdownDelayMs?: number;
  /** The ports of surfaces that also have their own port, by name. */
  readonly ports?: Readonly<Record<string, number>>;
}

export type Host = Required<Omit<ServedGateway, "metricsUrl">>;

/** Mounts surfaces on one HTTP server. The host checks and authenticates each request before a surface gets it. */
export async function openHost(
  surfaces: readonly CreateSurface[],
  serving: Serving,
  options: HostOptions,
): Promise<Host> {
  const { identity } = options;
  const isLocal = identity === undefined;
  const mounted: Surface[] = [];
  let server: HttpServer | undefined;
  const others: HttpServer[] = [];
  const context: SurfaceContext = {
    ...serving,
    isLocal,
    ...(identity && { identity }),
    address: () => server?.publicUrl ?? (isLocal ? (server?.url ?? "") : ""),
    addressFor: (called) => server?.addressOf(called) ?? "",
    surfaces: () => mounted,
  };
  const closeSurfaces = async (): Promise<void> => void (await Promise.all(mounted.map((each) => each.close?.())));

  try {
    for (const create of surfaces) mounted.push(create(context));
    refuseSharedPaths(mounted);
    const routesOf = (surface: Surface): readonly Route[] =>
      surface.routes.map((route) => drained(route, serving.work));
    const { seal } = serving.replica;
    const shared = { intake: createIntake(), ...options, seal };
    server = await createHttpServer({ ...shared, routes: mounted.flatMap(routesOf) });
    for (const surface of mounted) {
      const port = options.ports?.[surface.name];
      if (port !== undefined) others.push(await createHttpServer({ ...shared, port, routes: routesOf(surface) }));
    }
  } catch (error) {
    serving.startup.close();
    await closeSurfaces();
    await Promise.all([server, ...others].map((each) => each?.close()));
    await serving.replica.close();
    throw error;
  }

  const { url } = server;
  const servers = [server, ...others];
  const ended = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    const { drainMs, shutdownDelayMs: delayMs = 0 } = options;
    // Answers requests that wait for servers to connect.
    await serving.work.drain(drainMs, { delayMs, onDraining: serving.startup.close });
    await closeSurfaces();
    await serving.replica.close();
    await Promise.all(servers.map((each) => each.close()));
    ended.resolve();
  }
  return {
    url,
    closed: ended.promise,
    get pending() {
      return serving.work.pending;
    },
    close: () => (closing ??= close()),
  };
}

/** Wraps a route so that shutting down waits for its open requests and refuses new ones. */
function drained(route: Route, work: Work): Route {
  if (route.open === true || route.drainsItself === true) return route;
  return {
    ...route,
    async handle(exchange) {
      if (!work.draining) return work.run(new AbortController().signal, async () => route.handle(exchange));
      const { request, response } = exchange;
      answerWithProblem(response, toProblem(shuttingDown(), requestIdOf(request), { status: 503 }), retryAfter(work));
    },
  };
}

/** Throws if two surfaces have the same path, because one would hide the other. */
function refuseSharedPaths(surfaces: readonly Surface[]): void {
  const owners = new Map<string, string>();
  for (const { name, routes } of surfaces)
    for (const { path } of routes) {
      const owner = owners.get(path);
      if (owner !== undefined) {
        const problem = `The surfaces "${owner}" and "${name}" both declare ${path}.`;
        throw fixable("CONFIG_INVALID", problem, "Give one of them another path.", { field: "routes", value: path });
      }
      owners.set(path, name);
    }
}
