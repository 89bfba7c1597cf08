import { signal } from "@preact/signals";
import type { ArsenalEvent } from "../../src/client/index.ts";
import { caller, gateway } from "./gateway.ts";

const KEPT = 500;

/** The latest events of the gateway, newest first. */
export const events = signal<readonly ArsenalEvent[]>([]);

/** Why no events come; empty while they do. */
export const eventsProblem = signal("");

caller.subscribe((who) => {
  delete document.documentElement.dataset["live"];
  if (who !== "signed-in") {
    events.value = [];
    return;
  }
  eventsProblem.value = "";
  const following = gateway().subscribe((event) => (events.value = [event, ...events.value.slice(0, KEPT - 1)]), {
    onError: (error) => (eventsProblem.value = error.message),
  });
  following.connected.then(
    () => (document.documentElement.dataset["live"] = ""),
    () => {},
  );
});
