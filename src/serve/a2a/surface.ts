import { forAdmitted } from "../scoped-arsenal.ts";
import type { Surface, SurfaceContext } from "../surface.ts";
import { createAgentAnswers } from "./agent-answers.ts";
import { stateOf } from "./call-context.ts";
import { createCards } from "./card.ts";
import { createA2aEndpoint } from "./endpoint.ts";
import { createArsenalExecutor } from "./executor.ts";
import { createPushes } from "./tasks/push.ts";

const DAY_S = 86_400;

/** Serves the arsenal as an A2A agent: its card, and its tasks over JSON-RPC at `/a2a` and HTTP+JSON below `/a2a/v1`. */
export function a2aSurface(context: SurfaceContext): Surface {
  const { work, replica, a2a } = context;
  const cards = createCards(context);
  const ttlMs = (a2a?.taskTtlS ?? DAY_S) * 1000;
  const pushes = a2a && createPushes(replica, a2a);
  const endpoint = createA2aEndpoint({
    executor: createArsenalExecutor(context, {
      exposes: cards.exposes,
      answerText: createAgentAnswers(context, { ttlMs }),
    }),
    abilities: cards.abilities,
    card: (called) => cards.open(context.address() || called),
    extendedCard: (call) => cards.extended(call, context.address() || (stateOf(call).base ?? "")),
    replica,
    ttlMs,
    push: pushes,
    limits: context.limits,
    ...(a2a && { messagesPerMinute: a2a.messagesPerMinute }),
    work,
  });
  return {
    name: "a2a",
    routes: endpoint.routes.map((route) => (route.open === true ? route : forAdmitted(route, context))),
    addresses: [["/a2a", "The tools as an A2A agent. Its card is at /.well-known/agent-card.json."]],
    async close() {
      endpoint.close();
      cards.close();
      await pushes?.close();
    },
  };
}
