import { ownIdentity } from "../../../mcp/client-identity.ts";
import type { Serving, Surface } from "../../surface.ts";
import { createMcpEndpoint } from "../http-endpoint.ts";
import { createSseEndpoint } from "../legacy/sse-endpoint.ts";
import type { Plane } from "../plane.ts";
import { servedPlane } from "../served-plane.ts";
import { aggregatePlane } from "./aggregate-plane.ts";

/** Every tool, resource and prompt as one MCP server: at `/mcp`, and at `/sse` for older clients. */
export function mcpSurface(serving: Serving): Surface {
  const plane = aggregateOf(serving);
  const { work, replica } = serving;
  const endpoint = createMcpEndpoint(plane, { work, replica });
  const sse = createSseEndpoint({ plane, work, replica });
  return {
    name: "mcp",
    routes: [{ path: "/mcp", handle: (exchange) => endpoint.handle(exchange) }, ...sse.routes],
    addresses: [
      ["/mcp", "Every server as one MCP server. Give this address to your client."],
      ["/sse", "The same as /mcp, for clients that only support the older HTTP+SSE transport."],
    ],
    async close() {
      await Promise.all([endpoint.close(), sse.close()]);
      await plane.close();
    },
  };
}

/** The aggregate plane as any transport serves it. */
export function aggregateOf(serving: Serving): Plane {
  const { arsenal, mode, common, startup, replica } = serving;
  const plane = aggregatePlane({
    arsenal,
    upstreams: () => arsenal.upstreams,
    watchUpstreams: (changed) =>
      arsenal.subscribe(({ name }) => {
        if (name === "ensemble-connected" || name === "ensemble-disconnected") changed();
      }),
    mode,
    seal: replica.seal,
    info: ownIdentity().info,
    startup,
    ...(common === undefined ? {} : { common }),
  });
  return servedPlane(plane, serving);
}
