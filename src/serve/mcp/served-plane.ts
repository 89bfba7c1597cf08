import type { Serving } from "../surface.ts";
import type { Plane, PlaneSession } from "./plane.ts";
import { redactedPlane } from "./redacted-plane.ts";

/** A plane as clients get it: its requests count as work under way, and no known secret passes. */
export function servedPlane(plane: Plane, { work, redactor }: Pick<Serving, "work" | "redactor">): Plane {
  const redacted = redactedPlane(plane, redactor);
  const counted = (session: PlaneSession): PlaneSession => ({
    ...session,
    handle: (exchange) => work.run(exchange.signal, (signal) => session.handle({ ...exchange, signal })),
  });
  return {
    ...redacted,
    shared: counted(redacted.shared),
    openSession: async (peer, channel) => counted(await redacted.openSession(peer, channel)),
  };
}
