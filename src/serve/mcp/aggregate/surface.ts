import { forAdmitted } from "../../scoped-arsenal.ts";
import type { Serving, Surface } from "../../surface.ts";
import { createMcpEndpoint } from "../http-endpoint.ts";
import { createSseEndpoint } from "../legacy/sse-endpoint.ts";
import type { Plane } from "../plane.ts";
import { servedPlane } from "../served-plane.ts";
import { aggregatePlane } from "./aggregate-plane.ts";

/** Serves every tool, resource and prompt, or the tools of one toolset, as one MCP server: at `/mcp`, and at `/sse` for older clients. */
export function mcpSurface(serving: Serving): Surface {
  const plane = aggregateOf(serving);
  const { toolset } = serving;
  const what = toolset === undefined ? "Every server as one MCP server" : `The toolset ${toolset} as an MCP server`;
  const endpoint = createMcpEndpoint(plane, serving);
  const sse = createSseEndpoint(plane, serving);
  return {
    name: "mcp",
    routes: [{ path: "/mcp", drainsItself: true, handle: endpoint.handle }, ...sse.routes].map((route) =>
      forAdmitted(route, serving),
    ),
    addresses: [
      ["/mcp", `${what}. Give this address to your client.`],
      ["/sse", "The same as /mcp, for clients that only support the older HTTP+SSE transport."],
    ],
    async close() {
      await Promise.all([endpoint.close(), sse.close()]);
      await plane.close();
    },
  };
}

export function aggregateOf(serving: Serving): Plane {
  const { arsenal, replica } = serving;
  return servedPlane(aggregatePlane({ ...serving, upstreams: () => arsenal.upstreams, seal: replica.seal }), serving);
}
