import { forAdmitted } from "../scoped-arsenal.ts";
import type { ServedRoutes } from "../lazy-surface.ts";
import type { SurfaceContext } from "../surface.ts";
import { createAgentAnswers } from "./agent-answers.ts";
import { stateOf } from "./call-context.ts";
import { createCards } from "./card.ts";
import { createA2aEndpoint } from "./endpoint.ts";
import { createArsenalExecutor } from "./executor.ts";
import { createPushes } from "./tasks/push.ts";

const DAY_S = 86_400;

/** Creates the agent of an arsenal: its card and its tasks. */
export function serveAgent(context: SurfaceContext): ServedRoutes {
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
    routes: endpoint.routes.map((route) => (route.open === true ? route : forAdmitted(route, context))),
    async close() {
      endpoint.close();
      cards.close();
      await pushes?.close();
    },
  };
}
