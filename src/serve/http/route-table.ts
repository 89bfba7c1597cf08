import type { Route } from "../surface.ts";

/** Finds the route of a path. */
export interface RouteTable {
  /** `path` as the request has it; `normalised` gives it without dot segments, and is asked only where the first is no route's own. */
  find(path: string, normalised: () => string): Route | undefined;
  /** What the server answers at, for the person who called something else. */
  readonly paths: readonly string[];
}

/** Orders routes for look-up: a path's own route first, then the one with the longest beginning. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const exact = new Map(routes.map((route) => [route.path, route]));
  const below = routes.filter(isBeginning).sort((left, right) => right.path.length - left.path.length);

  return {
    find(path, normalised) {
      const own = exact.get(path);
      if (own !== undefined) return own;
      const plain = normalised();
      return exact.get(plain) ?? below.find((route) => plain.startsWith(route.path));
    },
    paths: routes.map((route) => (isBeginning(route) ? `${route.path}…` : route.path)),
  };
}

function isBeginning({ path, exact = false }: Route): boolean {
  return path.endsWith("/") && !exact;
}
