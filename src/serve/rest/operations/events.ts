import { EVENT_LEVELS, EVENT_NAMES } from "../../../observe/levels.ts";
import type { FeedEntry } from "../../event-feed.ts";
import { type Operation, operationsOf, type ServerSentEvent } from "../operation.ts";
import { anything, choice, entry, list, string, time, whole } from "../../../tool/shape/shape.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Events", role: "operator" });

const EVENT = entry(
  "One thing that happened.",
  {
    name: string("Its name, such as `call-finished`."),
    level: choice("The severity.", EVENT_LEVELS),
    at: time("When it happened."),
    data: anything("What happened. It holds no arguments, results or secrets."),
  },
  ["name", "level", "at", "data"],
);

const GAP = entry(
  "Reports that events are missing.",
  {
    name: choice("Always `gap`.", ["gap"]),
    level: choice("Always `warn`.", ["warn"]),
    at: time("When the gap was noticed."),
    data: entry(
      "The missing events.",
      {
        missed: whole("How many events, of all kinds. Omitted if that is not known."),
        reason: string("Why they are missing."),
      },
      ["reason"],
    ),
  },
  ["name", "level", "at", "data"],
);

export const eventOperations: readonly Operation[] = [
  operation("followEvents", "GET /events", {
    summary: "Follow what happens in every process on the same state, as server-sent events",
    description:
      "The stream has no end. Each entry has an id: send the last one as `Last-Event-ID` to resume after it. A reader that is too slow gets a `gap` and is disconnected. One caller may have 64 readers at once, all callers together 256. Events of other processes come about a second later; those from the first second after nobody listened may be missing. Events name tools that policy hides, too. An operator who belongs to a tenant sees the events of that tenant's calls.",
    query: entry("", {
      names: list(
        "Only events of these names: `call-finished,ensemble-failed`. Default: all.",
        choice("", EVENT_NAMES),
      ),
      level: choice("Only events of this level or a higher one. Default: all.", EVENT_LEVELS),
    }),
    headers: { "last-event-id": "The id of the last event that you have." },
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
