import { describe, expect, it } from "vitest";
import { createEventLog, type EventLog } from "./event-log.ts";

function dataAfter(log: EventLog, eventId: string): readonly string[] | undefined {
  const position = log.locate(eventId);
  return position && log.after(position).map(({ data }) => data);
}

describe("event log", () => {
  it("gives what came after an event on the same stream, and nothing of another", () => {
    const log = createEventLog("a");
    const first = log.append(1, "a");
    log.append(2, "other");
    log.append(1, "b");
    log.append(1, "c");
    expect(dataAfter(log, first.id)).toEqual(["b", "c"]);
  });

  it("gives everything after a mark that was set before the first event", () => {
    const log = createEventLog("a");
    log.append(1, "other");
    const mark = log.mark(2);
    log.append(2, "a");
    expect(dataAfter(log, mark)).toEqual(["a"]);
  });

  it("gives each event an id of its own", () => {
    const log = createEventLog("a");
    const ids = [log.append(1, "").id, log.append(2, "").id, log.append(1, "").id];
    expect(new Set(ids).size).toBe(3);
  });

  it("forgets the oldest event once there are too many", () => {
    const log = createEventLog("a", { maxEvents: 2 });
    for (const data of ["a", "b", "c"]) log.append(1, data);
    expect(dataAfter(log, "a.1-0")).toEqual(["b", "c"]);
  });

  it("forgets the oldest event once they are too long together, but never the newest", () => {
    const log = createEventLog("a", { maxLength: 5 });
    log.append(1, "abc");
    log.append(1, "def");
    expect(dataAfter(log, "a.1-0")).toEqual(["def"]);
    log.append(1, "much longer");
    expect(dataAfter(log, "a.1-0")).toEqual(["much longer"]);
  });

  it.each(["", "1-0", "a.1", "a.1-", "a.x-1", "a.1-9", "a.1-0 ", ".1-0", "a.9999999999999999-0"])(
    "knows no event %j",
    (id) => {
      expect(createEventLog("a").locate(id)).toBeUndefined();
    },
  );
});
