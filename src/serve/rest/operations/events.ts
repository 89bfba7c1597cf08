import { EVENT_LEVELS, EVENT_NAMES } from "../../../observe/levels.ts";
import type { FeedEntry } from "../../events/event-feed.ts";
import { type Operation, operationsOf, type ServerSentEvent } from "../operation.ts";
import { anything, choice, entry, list, string, time, whole } from "../../../tool/shape/shape.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Events", role: "operator" });

const EVENT = entry(
  "One event.",
  {
    name: string("The event's name, such as `call-finished`."),
    level: choice("The severity.", EVENT_LEVELS),
    at: time("When the event happened."),
    data: anything("The event's data, without arguments, results or secrets."),
  },
  ["name", "level", "at", "data"],
);

const GAP = entry(
  "Reports that the stream has missed events.",
  {
    name: choice("Always `gap`.", ["gap"]),
    level: choice("Always `warn`.", ["warn"]),
    at: time("When the gap was noticed."),
    data: entry(
      "The missing events.",
      {
        missed: whole("The number of missing events of all kinds. Omitted if the number is unknown."),
        reason: string("Why the events are missing."),
      },
      ["reason"],
    ),
  },
  ["name", "level", "at", "data"],
);

export const eventOperations: readonly Operation[] = [
  operation("followEvents", "GET /events", {
    summary: "Follow the events of all processes on the same state, as server-sent events",
    description:
      "The stream does not end. Each event has an id. To resume a stream, send the last id as `Last-Event-ID`. A reader that is too slow gets a `gap` and is disconnected. One caller may have 64 readers at once, and all callers together 256. Events of other processes arrive about one second later. If no reader was connected before, events of the first second may be missing. Events also name tools that the policy hides. An operator who belongs to a tenant sees the events of that tenant's calls.",
    query: entry("", {
      names: list(
        "Only events with these names: `call-finished,ensemble-failed`. Defaults to all.",
        choice("", EVENT_NAMES),
      ),
      level: choice("Only events of this level or higher. Defaults to all.", EVENT_LEVELS),
    }),
    headers: { "last-event-id": "The id of the last event that you received." },
    endless: true,
    problems: ["RATE_LIMITED"],
    answers: { 200: { description: "Events as they happen.", events: { event: EVENT, gap: GAP } } },
    async run({ query: { names, level }, principal, header, signal }, context) {
      const after = header("last-event-id");
      // Listening begins before the answer, so a caller misses no event after it has received the headers.
      const entries = await administrationOf(context).events.follow({
        reader: principal,
        names,
        level,
        tenant: principal.tenant,
        after,
        signal,
      });
      return { events: written(entries) };
    },
  }),
];

async function* written(
  batches: AsyncIterable<readonly FeedEntry[]>,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  for await (const entries of batches) yield { written: entries.map((each) => each.text).join("") };
}
