import { signal } from "@preact/signals";
import type { ArsenalEvent } from "../../src/client/index.ts";
import { caller, gateway, may } from "./gateway.ts";
import { messageOf } from "./parts/failure.tsx";
import type { Call } from "./parts/past-calls.ts";

const KEPT = 500;

/** The latest events of the gateway, newest first. */
export const events = signal<readonly ArsenalEvent[]>([]);

/** The latest calls that ended since the page was opened, newest first. A separate list, so that other events don't displace them. */
export const liveCalls = signal<readonly Call[]>([]);

/** The reason why no events arrive; empty while they arrive. */
export const eventsProblem = signal("");

caller.subscribe((who) => {
  delete document.documentElement.dataset["live"];
  if (who !== "signed-in") {
    events.value = [];
    liveCalls.value = [];
    return;
  }
  eventsProblem.value = "";
  if (!may("followEvents")) return;
  const following = gateway().subscribe(hear, { onError: (error) => (eventsProblem.value = messageOf(error)) });
  following.connected.then(
    () => (document.documentElement.dataset["live"] = ""),
    () => {},
  );
});

function hear(event: ArsenalEvent): void {
  events.value = [event, ...events.value.slice(0, KEPT - 1)];
  if (event.name !== "call-finished") return;
  const { at, data } = event;
  liveCalls.value = [{ kind: "call", at, ...data }, ...liveCalls.value.slice(0, KEPT - 1)];
}
