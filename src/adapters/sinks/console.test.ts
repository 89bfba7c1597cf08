import { spawn } from "node:child_process";
import { once } from "node:events";
import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { ArsenalEvent, EventLevel } from "../../observe/events.ts";
import { sinkContract } from "../../testing/sink.contract.ts";
import { consoleSink } from "./console.ts";

function rejected(level: EventLevel, message = "m"): ArsenalEvent<"tool-rejected"> {
  return { name: "tool-rejected", level, at: 1_769_860_800_000, data: { name: "x", code: "TOOL_INVALID", message } };
}

/** A stream whose reader takes each chunk only when told. */
function slowStream(): { stream: Writable; chunks: string[]; takeOne(): void } {
  const chunks: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _, done) {
      chunks.push(chunk);
      waiting.push(done);
    },
  });
  return { stream, chunks, takeOne: () => waiting.shift()?.() };
}

function openStream(): { stream: Writable; text(): string } {
  let text = "";
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString();
      done();
    },
  });
  return { stream, text: () => text };
}

describe("consoleSink, as a sink", () => {
  for (const { name, run } of sinkContract(() => ({ adapter: consoleSink({ stream: openStream().stream }) }))) {
    it(name, run);
  }
});

describe("consoleSink", () => {
  it("writes one JSON line an event [000-3.1-structured-log]", async () => {
    const { stream, text } = openStream();
    await consoleSink({ stream }).write([rejected("warn"), rejected("error", "two\nlines")]);
    expect(text()).toBe(
      '{"at":"2026-01-31T12:00:00.000Z","level":"warn","stage":"register","event":"tool-rejected","name":"x","code":"TOOL_INVALID","message":"m"}\n' +
        '{"at":"2026-01-31T12:00:00.000Z","level":"error","stage":"register","event":"tool-rejected","name":"x","code":"TOOL_INVALID","message":"two\\nlines"}\n',
    );
  });

  it("shows warnings and errors, or what is at or above its level", async () => {
    const events = (["debug", "info", "warn", "error"] as const).map((level) => rejected(level));
    const shown = async (level?: EventLevel): Promise<number> => {
      const { stream, text } = openStream();
      await consoleSink({ stream, ...(level && { level }) }).write(events);
      return text().split("\n").length - 1;
    };
    expect([await shown(), await shown("debug"), await shown("info"), await shown("error")]).toEqual([2, 4, 3, 1]);
  });

  it("shows each stage at its own level", async () => {
    const retrieval: ArsenalEvent = { ...rejected("info"), name: "catalog-changed", data: { changed: 1, deleted: 0 } };
    const { stream, text } = openStream();
    const sink = consoleSink({ stream, level: "warn", levels: { register: "error", catalog: "info" } });
    await sink.write([rejected("warn"), retrieval, rejected("error")]);
    const lines = text()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly stage: string });
    expect(lines.map(({ stage }) => stage)).toEqual(["catalog", "register"]);
    expect(() => consoleSink({ levels: { guard: "loud" as "warn" } })).toThrow("telemetry.log_levels.guard");
  });

  it("writes a line for people that names the trace, in colour only on a terminal", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const data = { toolId: "crm.find", traceId, spanId: "1", attempt: 2, delayMs: 200, message: "away" };
    const retried: ArsenalEvent = { name: "call-retried", level: "warn", at: 1_769_860_800_000, data };
    const line = `12:00:00.000 WARN  execute  crm.find: attempt 2 failed, retrying in 200 ms: away trace=${traceId}`;
    const shown = async (isTTY: boolean, format?: "auto" | "pretty"): Promise<string> => {
      const { stream, text } = openStream();
      await consoleSink({ stream: Object.assign(stream, { isTTY }), ...(format && { format }) }).write([retried]);
      return text();
    };
    expect(await shown(false, "pretty")).toBe(`${line}\n`);
    expect(stripVTControlCharacters(await shown(true))).toBe(`${line}\n`);
    expect(await shown(false, "auto")).toMatch(/^\{/);
  });

  it("puts every event on one line that steers no terminal, in both formats", async () => {
    const hostile = 'a\nb\r\n{"level":"error"}\u001B[2J\u009B2J\u2028\u202Eevil';
    for (const format of ["json", "pretty"] as const) {
      const { stream, text } = openStream();
      const named: ArsenalEvent = {
        ...rejected("warn"),
        data: { name: hostile, code: "TOOL_INVALID", message: hostile },
      };
      await consoleSink({ stream, format }).write([named]);
      expect(text().match(/\n/g)).toHaveLength(1);
      expect(text().trimEnd()).not.toMatch(/\p{Cc}|[\u2028\u202E]/u);
    }
  });

  it("escapes what a terminal would obey", async () => {
    const { stream, text } = openStream();
    await consoleSink({ stream }).write([rejected("warn", "\u001B[2J\u009B2J\u2028\u202Eevil")]);
    expect(text()).toContain('"message":"\\u001b[2J\\u009b2J\\u2028\\u202eevil"');
    expect(JSON.parse(text())).toMatchObject({ message: "\u001B[2J\u009B2J\u2028\u202Eevil" });
  });

  it("settles only when the stream has taken the lines", async () => {
    const { stream, chunks, takeOne } = slowStream();
    let settled = false;
    const writing = Promise.resolve(consoleSink({ stream }).write([rejected("warn")])).then(() => (settled = true));
    await nextTurn();
    expect([chunks.length, settled]).toEqual([1, false]);
    takeOne();
    await writing;
    expect(settled).toBe(true);
  });

  it.each([true, false])(
    "survives a reader that goes away, and is quiet then (autoDestroy %j)",
    async (autoDestroy) => {
      let writes = 0;
      const stream = new Writable({
        autoDestroy,
        write(_chunk, _encoding, done) {
          writes++;
          done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
        },
      });
      const sink = consoleSink({ stream });
      await sink.write([rejected("warn")]);
      await nextTurn();
      await sink.write([rejected("warn")]);
      expect(writes).toBe(1);
    },
  );

  it("does not end a process whose standard error was closed", async () => {
    const sinkUrl = new URL("console.ts", import.meta.url).href;
    const program = `
      import { consoleSink } from ${JSON.stringify(sinkUrl)};
      const sink = consoleSink();
      const event = { name: "circuit-closed", level: "error", at: 0, data: { toolId: "x".repeat(100_000) } };
      await new Promise((resolve) => process.stdin.once("data", resolve));
      for (let count = 0; count < 10; count++) await sink.write([event]);
      process.stdout.write("alive", () => process.exit(0));
    `;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
    child.stderr.destroy();
    child.stdin.end("go");
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    expect([said, code]).toEqual(["alive", 0]);
  });

  it("is quiet on a stream that was ended or destroyed", async () => {
    const ended = openStream();
    ended.stream.end();
    await consoleSink({ stream: ended.stream }).write([rejected("warn")]);
    const destroyed = openStream();
    destroyed.stream.destroy();
    await consoleSink({ stream: destroyed.stream }).write([rejected("warn")]);
    expect([ended.text(), destroyed.text()]).toEqual(["", ""]);
  });

  it.each([
    ["once, where it then closes", true, ["rejected", "fulfilled"]],
    ["each time, where it stays", false, ["rejected", "rejected"]],
  ])("rejects where the stream fails: %s", async (_, autoDestroy, outcomes) => {
    const stream = new Writable({
      autoDestroy,
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("full"), { code: "ENOSPC" })),
    });
    const sink = consoleSink({ stream });
    const first = await Promise.allSettled([sink.write([rejected("warn")])]);
    await nextTurn();
    const second = await Promise.allSettled([(async () => sink.write([rejected("warn")]))()]);
    expect([...first, ...second].map(({ status }) => status)).toEqual(outcomes);
  });

  it("adds one error listener to a stream, however many sinks write to it", () => {
    const { stream } = openStream();
    for (let sink = 0; sink < 20; sink++) consoleSink({ stream });
    expect(stream.listenerCount("error")).toBe(1);
  });

  it("refuses an unknown level", () => {
    expect(() => consoleSink({ level: "loud" as "warn" })).toThrow(ArsenalError);
    expect(() => consoleSink({ level: "loud" as "warn" })).toThrow('telemetry.level is "loud"');
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
