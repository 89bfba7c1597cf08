import type { StreamResponse } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { stateOf, taskKey } from "../call-context.ts";
import { createEventQueue, type EventQueue } from "../../events/event-queue.ts";
import { hasEnded } from "./task-store.ts";

/** Tracks the readers of each task across messages, until the task ends. */
export function createFollowers() {
  const queues = new Map<string, Set<EventQueue<StreamResponse>>>();

  return {
    /** Sends an event of a task to all its readers. The last event of a task ends their streams. */
    tell(event: StreamResponse, context: ServerCallContext): void {
      const { payload } = event;
      if (payload === undefined || payload.$case === "message") return;
      const key = taskKey(payload.$case === "task" ? payload.value.id : payload.value.taskId, context);
      const following = queues.get(key) ?? [];
      const isLast = payload.$case !== "artifactUpdate" && hasEnded(payload.value);
      if (isLast) queues.delete(key);
      for (const queue of following) {
        queue.push(event);
        if (isLast) queue.end();
      }
    },
    /** Returns all later events of a task. Call `leave` when the reader disconnects. */
    follow(taskId: string, context: ServerCallContext): Pick<EventQueue<StreamResponse>, "events"> & { leave(): void } {
      const key = taskKey(taskId, context);
      const queue = createEventQueue<StreamResponse>({ until: stateOf(context).gone });
      queues.set(key, (queues.get(key) ?? new Set()).add(queue));
      return {
        events: queue.events,
        leave(): void {
          const following = queues.get(key);
          following?.delete(queue);
          if (following?.size === 0) queues.delete(key);
        },
      };
    },
  };
}
