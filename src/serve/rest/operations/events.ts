import { EVENT_LEVELS, EVENT_NAMES } from "../../../observe/levels.ts";
import type { FeedEntry } from "../../event-feed.ts";
import { type Operation, operationsOf, type ServerSentEvent } from "../operation.ts";
import { anyObject, choice, integer, list, object, text, time } from "../schemas/write.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Events", role: "operator" });

const EVENT = object("One thing that happened.", ["name", "level", "at", "data"], {
  name: text("Its name, such as `call-finished`."),
  level: choice(EVENT_LEVELS, "How loud it is."),
  at: time("When it happened."),
  data: anyObject("What happened. It holds no arguments, results or secrets."),
});

const GAP = object("Says that events are missing.", ["name", "level", "at", "data"], {
  name: choice(["gap"], "Always `gap`."),
  level: choice(["warn"], "Always `warn`."),
  at: time("When it was noticed."),
  data: object("What is missing.", ["reason"], {
    missed: integer("How many events, of all kinds. Omitted if that is not known."),
    reason: text("Why they are missing."),
  }),
});

/** Streams the events of the gateway. */
export const eventOperations: readonly Operation[] = [
  operation("followEvents", "GET /events", {
    summary: "Follow what happens in every process on the same state, as server-sent events",
    description:
      "The stream has no end. Each entry has an id: send the last one as `Last-Event-ID` to resume after it. A reader that is too slow gets a `gap` and is disconnected. One caller may have 64 readers at once, all callers together 256. Events of other processes come about a second later; those from the first second after nobody listened may be missing. Events name tools that policy hides, too. An operator who belongs to a tenant sees the events of that tenant's calls.",
    query: object("", [], {
      names: list({ enum: EVENT_NAMES }, "Only events of these names: `call-finished,ensemble-failed`. Default: all."),
      level: choice(EVENT_LEVELS, "Only events of this level or a higher one. Default: all."),
    }),
    headers: { "last-event-id": "The id of the last event that you have." },
    endless: true,
    problems: ["RATE_LIMITED"],
    answers: { 200: { description: "Events as they happen.", events: { event: EVENT, gap: GAP } } },
    async run({ query: { names, level }, principal, header, signal }, context) {
      const after = header("last-event-id");
      // Listening begins before the answer does: what happens once the caller has its headers is not missed.
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
  for await (const entries of batches) yield { written: entries.map((entry) => entry.text).join("") };
}
