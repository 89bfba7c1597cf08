import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import { refuse } from "../../http/answer.ts";
import type { Surface, SurfaceContext } from "../../surface.ts";
import { createMcpEndpoint, type McpEndpoint } from "../http-endpoint.ts";
import type { Plane } from "../plane.ts";
import { servedPlane } from "../served-plane.ts";
import { transparentPlane } from "./transparent-plane.ts";

const PATH = "/mcp/upstreams/";

interface Served {
  readonly plane: Plane;
  readonly endpoint: McpEndpoint;
}

/** Each upstream at its own address, names and results untouched. A plane is created on first use, and again if its upstream is replaced. */
export function upstreamsSurface(context: SurfaceContext): Surface {
  const { arsenal, work, replica, isLocal } = context;
  const served = new Map<McpUpstream, Served>();

  const end = async ({ plane, endpoint }: Served): Promise<void> => {
    await endpoint.close();
    await plane.close();
  };

  function endpointOf(upstream: McpUpstream): McpEndpoint {
    const known = served.get(upstream);
    if (known) return known.endpoint;
    const plane = servedPlane(transparentPlane({ upstream, arsenal }), context);
    const entry: Served = { plane, endpoint: createMcpEndpoint(plane, { work, replica }) };
    served.set(upstream, entry);
    upstream.watch((change) => {
      if (change.kind !== "state" || change.state.kind !== "closed") return;
      served.delete(upstream);
      void end(entry);
    });
    return entry.endpoint;
  }

  return {
    name: "mcp-upstreams",
    routes: [
      {
        path: PATH,
        drainsItself: true,
        async handle(exchange) {
          const name = decoded(exchange.url.pathname.slice(PATH.length));
          const upstream = arsenal.upstreams.find((candidate) => candidate.name === name);
          if (upstream) return endpointOf(upstream).handle(exchange);
          const known = arsenal.upstreams.map((candidate) => candidate.name).join(", ");
          const others = isLocal ? ` There ${known === "" ? "are none" : `are: ${known}`}.` : "";
          refuse(exchange.response, { status: 404, message: `There is no upstream ${JSON.stringify(name)}.${others}` });
        },
      },
    ],
    addresses: [[`${PATH}NAME`, "One server, with its own names and results."]],
    async close() {
      await Promise.all(Array.from(served.values(), end));
    },
  };
}

/** Decodes a part of a path; returns it unchanged if it is not validly encoded. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
