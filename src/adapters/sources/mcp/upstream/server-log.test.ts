import { describe, expect, it } from "vitest";
import { createRedactor } from "../../../../guard/redaction/redactor.ts";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import { createServerLog } from "./server-log.ts";

const textsOf = (log: ReturnType<typeof createServerLog>): readonly string[] => log.read().map(({ text }) => text);

describe("the log of a server", () => {
  it("keeps the latest 200 lines, each of them short", () => {
    const log = createServerLog({ clock: createManualClock() });
    for (let line = 1; line <= 250; line++) log.add("stderr", `line ${line}`);
    expect(textsOf(log)).toHaveLength(200);
    expect([textsOf(log)[0], textsOf(log).at(-1)]).toEqual(["line 51", "line 250"]);
    log.add("stderr", "x".repeat(100_000));
    expect(textsOf(log).at(-1)).toBe(`${"x".repeat(999)}…`);
  });

  it("puts every line of a message on a line of its own, up to 50", () => {
    const log = createServerLog({ clock: createManualClock() });
    log.add("mcp", "Traceback:\r\n  File a.py\n\nValueError", "error");
    expect(log.read().map(({ level, text }) => [level, text])).toEqual([
      ["error", "Traceback:"],
      ["error", "  File a.py"],
      ["error", "ValueError"],
    ]);
    log.add("mcp", Array.from({ length: 500 }, (_, index) => `line ${index}`).join("\n"));
    expect(textsOf(log)).toHaveLength(53);
    expect(textsOf(log).at(-1)).toBe("(451 more lines)");
  });

  it("removes secrets that terminal escapes interrupt, and those that become known later", () => {
    const redactor = createRedactor();
    const log = createServerLog({ clock: createManualClock(), redactor });
    log.add("stderr", "the key is hunter\u001B[1m2-hunter2\u001B[0m, red");
    redactor.add("hunter2-hunter2");
    expect(textsOf(log)).toEqual(["the key is [redacted], red"]);
  });

  it("gives lines ids that grow also over a restart, so that a reader goes on after the last one", () => {
    const clock = createManualClock(1_000_000);
    const log = createServerLog({ clock });
    for (const text of ["one", "two", "three"]) log.add("stderr", text);
    const [first, second] = log.read();
    expect(log.read(second?.id).map(({ text }) => text)).toEqual(["three"]);
    expect(first).toMatchObject({ at: 1_000_000, from: "stderr" });
    const restarted = createServerLog({ clock: createManualClock(1_001_000) });
    restarted.add("stderr", "four");
    expect(restarted.read(second?.id)).toHaveLength(1);
  });
});
