import { refuse } from "../http/answer.ts";
import { mayUse } from "../scoped-arsenal.ts";
import type { Route, Surface, SurfaceContext } from "../surface.ts";
import { createAgentAnswers } from "./agent-answers.ts";
import { stateOf } from "./call-context.ts";
import { createCards } from "./card.ts";
import { createA2aEndpoint } from "./endpoint.ts";
import { createArsenalExecutor } from "./executor.ts";
import { createPushes } from "./tasks/push.ts";
import { replicateTasks } from "./tasks/replicated-tasks.ts";
import type { TaskHandler } from "./tasks/task-handler.ts";
import { createSharedTasks } from "./tasks/task-store.ts";

const DAY_MS = 86_400_000;

/** The arsenal as an A2A agent: its card, and its tasks over JSON-RPC at `/a2a` and HTTP+JSON below `/a2a/v1`. */
export function a2aSurface(context: SurfaceContext): Surface {
  const { work, replica, a2a } = context;
  const cards = createCards(context);
  const ttlMs = a2a?.taskTtlMs ?? DAY_MS;
  const tasks = createSharedTasks(replica, { ttlMs, isRunning: (...given) => isRunning?.(...given) ?? true });
  const pushes = a2a && createPushes(replica, a2a);
  let endReplicated: (() => void) | undefined;
  let isRunning: TaskHandler["isRunning"] | undefined;
  const endpoint = createA2aEndpoint({
    executor: createArsenalExecutor(context, {
      exposes: cards.exposes,
      answerText: createAgentAnswers(context, { ttlMs }),
    }),
    abilities: cards.abilities,
    card: (called) => cards.open(context.address() || called),
    extendedCard: (call) => cards.extended(call, context.address() || (stateOf(call).base ?? "")),
    taskStore: tasks,
    ...(pushes && { push: pushes }),
    work,
    wrap(handler) {
      ({ isRunning } = handler);
      const replicated = replicateTasks(handler, { replica, tasks });
      endReplicated = replicated.close;
      return replicated;
    },
  });
  return {
    name: "a2a",
    routes: endpoint.routes.map((route) => (route.open === true ? route : forAdmitted(route, context))),
    addresses: [["/a2a", "The tools as an A2A agent. Its card is at /.well-known/agent-card.json."]],
    async close() {
      endpoint.close();
      endReplicated?.();
      cards.close();
      await pushes?.close();
    },
  };
}

/** A route that answers only callers who may use what is served. */
function forAdmitted(route: Route, context: SurfaceContext): Route {
  return {
    ...route,
    handle(exchange) {
      if (mayUse(context, exchange.principal)) return route.handle(exchange);
      refuse(exchange.response, { status: 404, message: "There is nothing for you at this address." });
    },
  };
}
