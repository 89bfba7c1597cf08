import type { Route, Surface } from "./surface.ts";

/** The code behind declared routes. */
export interface ServedRoutes extends Pick<Surface, "close"> {
  readonly routes: readonly Pick<Route, "path" | "handle" | "template">[];
}

/** A surface whose code is loaded and created by the first request to one of its routes, so that gateways without such requests start faster. */
export function lazySurface({
  routes,
  load,
  ...surface
}: Pick<Surface, "name" | "addresses"> & {
  readonly routes: readonly Omit<Route, "handle" | "template">[];
  readonly load: () => Promise<ServedRoutes>;
}): Surface {
  let loading: Promise<ServedRoutes> | undefined;
  let loaded: ServedRoutes | undefined;

  async function open(): Promise<ServedRoutes> {
    try {
      return (loaded = await (loading ??= load()));
    } catch (error) {
      loading = undefined;
      throw error;
    }
  }

  const at = ({ routes: served }: ServedRoutes, path: string) => served.find((each) => each.path === path);
  return {
    ...surface,
    routes: routes.map((route) => ({
      ...route,
      template: (...request) => (loaded && at(loaded, route.path)?.template?.(...request)) ?? route.path,
      handle: async (exchange) => at(loaded ?? (await open()), route.path)?.handle(exchange),
    })),
    close: async () => (await loading?.catch(() => undefined))?.close?.(),
  };
}
