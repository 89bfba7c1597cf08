import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { localOperator } from "../../../guard/principal.ts";
import { refuse } from "../../http/answer.ts";
import { servedToolset } from "../../scoped-arsenal.ts";
import type { Surface, SurfaceContext } from "../../surface.ts";
import { aggregateOf } from "../aggregate/surface.ts";
import { createMcpEndpoint, type McpEndpoint } from "../http-endpoint.ts";
import type { Plane } from "../plane.ts";

const PATH = "/mcp/toolsets/";

interface Served {
  readonly plane: Plane;
  readonly endpoint: McpEndpoint;
}

/** Each toolset as an MCP server of its own. It is opened with the first request, and closed when the toolset is removed. */
export function toolsetsSurface(context: SurfaceContext): Surface {
  const { work, replica } = context;
  const { toolsets } = context.arsenal;
  const served = new Map<string, Served>();

  const end = async ({ plane, endpoint }: Served): Promise<void> => {
    await endpoint.close();
    await plane.close();
  };

  const endWatch = toolsets.watch((name) => {
    const entry = served.get(name);
    if (entry === undefined || toolsets.find(name, localOperator()) !== undefined) return;
    served.delete(name);
    void end(entry);
  });

  function endpointOf(name: string): McpEndpoint {
    const known = served.get(name);
    if (known) return known.endpoint;
    const scoped = servedToolset(context, name);
    // The wait for servers is everybody's, and does not end with one toolset.
    const plane = aggregateOf({ ...scoped, startup: { ...scoped.startup, close: () => undefined } });
    const endpoint = createMcpEndpoint(plane, { work, replica });
    served.set(name, { plane, endpoint });
    return endpoint;
  }

  return {
    name: "mcp-toolsets",
    routes: [
      {
        path: PATH,
        drainsItself: true,
        async handle(exchange) {
          const { url, principal, response } = exchange;
          try {
            const { name } = toolsets.get(url.pathname.slice(PATH.length), principal);
            return await endpointOf(name).handle(exchange);
          } catch (error) {
            if (!isArsenalError(error) || error.code !== "TOOLSET_NOT_FOUND") throw error;
            refuse(response, { status: 404, message: error.message });
          }
        },
      },
    ],
    addresses: [[`${PATH}NAME`, "The tools of one toolset, and nothing else."]],
    async close() {
      endWatch();
      await Promise.all(Array.from(served.values(), end));
    },
  };
}
