import { Context, Effect, Layer, PubSub, Stream } from "effect";

/** An event of a tool or an MCP server. */
export type ToolEvent =
  | {
      readonly type: "tools.executed";
      readonly payload: { readonly toolName: string; readonly success: true; readonly executionTimeMs: number };
    }
  | {
      readonly type: "tools.failed";
      readonly payload: {
        readonly toolName: string;
        readonly success: false;
        readonly executionTimeMs: number;
        /** The tag of the error, or `Interrupted`. */
        readonly error: string;
        readonly message: string;
      };
    }
  | {
      readonly type: "tools.mcp-connected";
      readonly payload: { readonly serverName: string; readonly tools: readonly string[] };
    }
  | { readonly type: "tools.mcp-disconnected"; readonly payload: { readonly serverName: string } };

/** Carries tool events to its subscribers. */
export class EventBus extends Context.Service<
  EventBus,
  {
    readonly publish: (event: ToolEvent) => Effect.Effect<void>;
    /** Delivers events from the moment a consumer runs the stream. */
    readonly subscribe: Stream.Stream<ToolEvent>;
  }
>()("toolarsenal/effect/EventBus") {}

/** Number of events that a slow subscriber may fall behind before the oldest are dropped. Publishing never waits. */
const CAPACITY = 1024;

/** An event bus in memory. */
export const EventBusLive: Layer.Layer<EventBus> = Layer.effect(
  EventBus,
  Effect.gen(function* () {
    const events = yield* Effect.acquireRelease(PubSub.sliding<ToolEvent>(CAPACITY), PubSub.shutdown);
    return EventBus.of({
      publish: (event) => Effect.asVoid(PubSub.publish(events, event)),
      subscribe: Stream.fromPubSub(events),
    });
  }),
);
