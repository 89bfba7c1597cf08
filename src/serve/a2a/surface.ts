import { lazySurface } from "../lazy-surface.ts";
import type { Surface, SurfaceContext } from "../surface.ts";
import { A2A_ROUTES } from "./routes.ts";

/** Serves the arsenal as an A2A agent: its card, and its tasks over JSON-RPC at `/a2a` and HTTP+JSON below `/a2a/v1`. */
export function a2aSurface(context: SurfaceContext): Surface {
  return lazySurface({
    name: "a2a",
    routes: A2A_ROUTES,
    addresses: [["/a2a", "The tools as an A2A agent. Its card is at /.well-known/agent-card.json."]],
    load: async () => (await import("./serve-agent.ts")).serveAgent(context),
  });
}
