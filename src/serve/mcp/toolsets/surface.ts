import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { localOperator } from "../../../guard/principal.ts";
import { refuse } from "../../http/answer.ts";
import { servedToolset } from "../../scoped-arsenal.ts";
import type { Surface, SurfaceContext } from "../../surface.ts";
import { aggregateOf } from "../aggregate/surface.ts";
import { createMcpEndpoints } from "../http-endpoint.ts";

const PATH = "/mcp/toolsets/";

/** Serves each toolset as a separate MCP server. It is opened with the first request, and closed when the toolset is removed. */
export function toolsetsSurface(context: SurfaceContext): Surface {
  const { toolsets } = context.arsenal;
  const endpoints = createMcpEndpoints((name: string) => {
    const scoped = servedToolset(context, name);
    // The wait for servers is shared, so removing a toolset does not end it.
    const { mode = context.mode } = toolsets.find(name, localOperator()) ?? {};
    return aggregateOf({ ...scoped, mode, startup: { ...scoped.startup, close: () => undefined } });
  }, context);
  const endWatch = toolsets.watch((name) => {
    if (toolsets.find(name, localOperator()) === undefined) void endpoints.end(name);
  });

  return {
    name: "mcp-toolsets",
    routes: [
      {
        path: PATH,
        drainsItself: true,
        template: () => `${PATH}{name}`,
        async handle(exchange) {
          const { url, principal, response } = exchange;
          try {
            const { name } = toolsets.get(url.pathname.slice(PATH.length), principal);
            return await endpoints.of(name).handle(exchange);
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
      await endpoints.close();
    },
  };
}
