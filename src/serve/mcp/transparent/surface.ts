import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import { decodePercent } from "../../../tool/schema/keywords.ts";
import { refuse } from "../../http/answer.ts";
import type { Surface, SurfaceContext } from "../../surface.ts";
import { createMcpEndpoints } from "../http-endpoint.ts";
import { servedPlane } from "../served-plane.ts";
import { transparentPlane } from "./transparent-plane.ts";

const PATH = "/mcp/upstreams/";

/**
 * Serves each upstream at its own address, with unchanged names and results. A plane is created on first use, and again if its upstream is replaced.
 */
export function upstreamsSurface(context: SurfaceContext): Surface {
  const { arsenal, isLocal } = context;
  const endpoints = createMcpEndpoints((upstream: McpUpstream) => {
    upstream.watch((change) => {
      if (change.kind === "state" && change.state.kind === "closed") void endpoints.end(upstream);
    });
    return servedPlane(transparentPlane({ upstream, arsenal }), context);
  }, context);

  return {
    name: "mcp-upstreams",
    routes: [
      {
        path: PATH,
        drainsItself: true,
        template: () => `${PATH}{name}`,
        handle(exchange) {
          const name = decodePercent(exchange.url.pathname.slice(PATH.length));
          const { upstreams } = arsenal;
          const upstream = upstreams.find((candidate) => candidate.name === name);
          if (upstream) return endpoints.of(upstream).handle(exchange);
          const known = upstreams.map((candidate) => candidate.name).join(", ");
          const others = isLocal ? ` There ${known === "" ? "are none" : `are: ${known}`}.` : "";
          refuse(exchange.response, { status: 404, message: `There is no upstream ${JSON.stringify(name)}.${others}` });
        },
      },
    ],
    addresses: [[`${PATH}NAME`, "One server, with its own names and results."]],
    close: endpoints.close,
  };
}
