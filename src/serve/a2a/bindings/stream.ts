import { type Clock, systemClock } from "../../../observe/clock.ts";
import { openEventStream } from "../../mcp/reply.ts";
import type { HttpExchange } from "../../surface.ts";

const KEEP_ALIVE_MS = 15_000;

/** The open streams. They end when the surface is closed. */
export interface Streams {
  /** Sends each value as an event. Rejects if the first value fails; a later error is sent as the last event. */
  answer(
    exchange: Pick<HttpExchange, "response">,
    values: AsyncIterator<unknown>,
    toErrorBody: (error: unknown) => unknown,
  ): Promise<void>;
  close(): void;
}

export function createStreams({ clock = systemClock }: { readonly clock?: Clock } = {}): Streams {
  const open = new Set<() => void>();
  return {
    async answer({ response }, values, toErrorBody) {
      const first = await values.next();
      const stream = openEventStream(response, { clock, keepAliveMs: KEEP_ALIVE_MS });
      const gone = Promise.withResolvers<{ readonly done: true; readonly value: undefined }>();
      const leave = (): void => gone.resolve({ done: true, value: undefined });
      open.add(leave);
      response.once("close", leave);
      try {
        for (let next = first; next.done !== true; next = await Promise.race([values.next(), gone.promise]))
          stream.write({ data: JSON.stringify(next.value) });
      } catch (error) {
        stream.write({ event: "error", data: JSON.stringify(toErrorBody(error)) });
      } finally {
        open.delete(leave);
        response.off("close", leave);
        void values.return?.();
        stream.end();
      }
    },
    close() {
      for (const leave of open) leave();
    },
  };
}
