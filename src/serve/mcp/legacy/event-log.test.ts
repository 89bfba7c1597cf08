import { describe, expect, it } from "vitest";
import { createShares } from "../../../base/shares.ts";
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

  it("is emptied when it gives way, and goes on", () => {
    const room = createShares({ count: 9, bytes: 100, perCaller: { bytes: 60 } });
    const logOf = (id: string): EventLog => createEventLog("a", { take: (giveWay) => room.take({ id }, { giveWay }) });
    const [first, second, other] = [logOf("a"), logOf("a"), logOf("b")];
    const mark = first.mark(1);
    first.append(1, "x".repeat(40));
    other.append(1, "y".repeat(40));
    second.append(1, "x".repeat(40));
    expect(dataAfter(first, mark)).toEqual([]);
    expect(room.all.bytes).toBe(80);
    first.append(1, "again");
    expect(dataAfter(first, mark)).toEqual(["again"]);
    other.append(1, "z".repeat(100));
    expect(room.all.bytes).toBe(45);
    for (const log of [first, second, other]) log.clear();
    expect(room.all).toEqual({ count: 0, bytes: 0 });
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
