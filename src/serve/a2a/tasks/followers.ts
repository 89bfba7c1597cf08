import type { StreamResponse } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { stateOf, taskKey } from "../call-context.ts";
import { createEventQueue, type EventQueue } from "../../event-queue.ts";
import { hasEnded } from "./task-store.ts";

/** Keeps the readers of each task, from one message to the next, until the task ends. */
export function createFollowers() {
  const queues = new Map<string, Set<EventQueue<StreamResponse>>>();

  return {
    /** Hands an event of a task to everyone who follows it. The last event of a task ends their streams. */
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
    /** All events of a task from now on. Call `leave` when the reader is gone. */
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
