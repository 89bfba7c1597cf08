import { nextTurn } from "../../base/turns/event-loop.ts";
import { type JsonObject, RpcError, type RpcNotification } from "../../mcp/protocol.ts";
import type { Redactor } from "../../guard/redaction/redactor.ts";
import { createTracing } from "./trace-request.ts";
import type { Serving, SurfaceContext } from "../surface.ts";
import { createSignIn } from "./sign-in-question.ts";
import { withApps } from "./with-apps.ts";
import { withTasks } from "./tasks/with-tasks.ts";
import { errorBody, type Exchange, type Plane, type PlaneSession, type Push } from "./plane.ts";

/** Time for searching an answer for secrets before other work gets a turn, in milliseconds. */
const TURN_MS = 10;

type ServedPlaneParts = Pick<Serving, "work" | "redactor" | "emit" | "replica" | "room" | "tasks" | "connections"> &
  Partial<Pick<SurfaceContext, "addressFor">>;

/** Wraps a plane for clients: its requests count as running work, known secrets are removed, and long calls become tasks. */
export function servedPlane(
  plane: Plane,
  { work, redactor, emit, connections, addressFor, ...tasks }: ServedPlaneParts,
): Plane {
  const redacted = redactedPlane(plane, redactor);
  const traced = createTracing(emit);
  const signInOf = createSignIn(connections, addressFor);
  const counted = (session: PlaneSession): PlaneSession => ({
    ...session,
    handle(exchange) {
      const signIn = signInOf(exchange);
      return traced(signIn === undefined ? exchange : { ...exchange, signIn }, (given) =>
        given.abort === undefined
          ? work.run(given.signal, (signal) => session.handle({ ...given, signal }))
          : work.track(given.abort, () => session.handle(given)),
      );
    },
  });
  const served: Plane = {
    ...redacted,
    shared: counted(redacted.shared),
    openSession: async (peer, channel) => counted(await redacted.openSession(peer, channel)),
  };
  return withApps(withTasks(served, tasks));
}

/**
 * Wraps a plane so that no known secret reaches a client. Text that only looks like a credential is redacted in errors, progress and logs, but kept
 * in results. A value without a secret is returned as the same object.
 */
function redactedPlane(plane: Plane, redactor: Redactor): Plane {
  const { known } = redactor;

  /** Runs a task. Rejects with the redacted error for the client. */
  const safely = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    try {
      const result = await task();
      const startedAt = performance.now();
      const shown = known.value(result);
      // Sends a large answer in the next turn of the event loop.
      if (performance.now() - startedAt > TURN_MS) await nextTurn();
      return shown;
    } catch (error) {
      throw new RpcError(redactor.value(errorBody(error)));
    }
  };

  const redactParams = ({ method, params }: RpcNotification): JsonObject | undefined =>
    method === "notifications/message" ? redactor.value(params) : known.value(params);

  /** Redacts messages of one request. An upstream may split a secret over several progress messages. */
  const redactNotify = (notify: Push): Push => {
    let progress: ((part: string) => string) | undefined;
    return (notification) => {
      let params = redactParams(notification);
      if (notification.method === "notifications/progress" && typeof params?.["message"] === "string") {
        progress ??= redactor.stream();
        params = { ...params, message: progress(params["message"]) };
      }
      notify(params === undefined || params === notification.params ? notification : { ...notification, params });
    };
  };

  const redactAsk =
    (ask: Exchange["ask"]): Exchange["ask"] =>
    (method, params, options) =>
      ask(method, known.value(params), options);

  const redactSession = (session: PlaneSession): PlaneSession => ({
    ...session,
    describe: () => safely(session.describe),
    handle: (exchange) => {
      const redacted = { ...exchange, notify: redactNotify(exchange.notify), ask: redactAsk(exchange.ask) };
      return safely(() => session.handle(redacted));
    },
  });

  return {
    ...plane,
    shared: redactSession(plane.shared),
    async openSession(peer, { push, ask }) {
      const channel = { push: redactNotify(push), ask: redactAsk(ask) };
      return redactSession(await safely(() => plane.openSession(peer, channel)));
    },
    listen: (filter, push, options) => safely(() => plane.listen(filter, redactNotify(push), options)),
  };
}
