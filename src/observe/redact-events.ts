import type { Redactor } from "../guard/redaction/redactor.ts";
import type { EventMap, EventName } from "./events.ts";

/** Takes the secrets out of what an event tells. */
export type RedactEvent = <Name extends EventName>(name: Name, data: EventMap[Name]) => EventMap[Name];

/** Creates what redacts events. The messages of one call's progress are parts of one text: a secret may be split over them. */
export function createEventRedaction(redactor: Pick<Redactor, "value" | "stream">): RedactEvent {
  const running = new Map<string, (part: string) => string>();

  function joined(data: EventMap["call-progressed"]): EventMap["call-progressed"] {
    const { spanId, message } = data;
    if (typeof message !== "string") return data;
    let stream = running.get(spanId);
    if (stream === undefined) running.set(spanId, (stream = redactor.stream()));
    const shown = stream(message);
    return shown === message ? data : { ...data, message: shown };
  }

  return (name, data) => {
    if (name === "call-finished") running.delete((data as EventMap["call-finished"]).spanId);
    const told = name === "call-progressed" ? (joined(data as EventMap["call-progressed"]) as typeof data) : data;
    return redactor.value(told);
  };
}
