import { describe, expect, it } from "vitest";
import { DIALECT_NAMES, type DialectName, toDialect } from "../../src/adapters/dialects/built-in.ts";
import { ToolArsenal } from "../../src/arsenal.ts";
import { answerCalls } from "../../src/transcode/answer-calls.ts";
import type { Dialect, ReadCall } from "../../src/transcode/dialect.port.ts";
import { ANTHROPIC } from "./anthropic.ts";
import { GEMINI } from "./gemini.ts";
import { OPENAI_RESPONSES } from "./openai-responses.ts";
import { OPENAI } from "./openai.ts";
import { OTHERS } from "./others.ts";
import type { Recording } from "./recording.ts";

const RECORDINGS: readonly Recording[] = [...OPENAI, ...OPENAI_RESPONSES, ...ANTHROPIC, ...GEMINI, ...OTHERS];

function readAll(dialect: Dialect, { answer, events }: Recording): readonly ReadCall[] {
  if (events === undefined) return dialect.readCalls(answer);
  const stream = dialect.readStream?.();
  return [...events.flatMap((event) => stream?.push(event) ?? []), ...(stream?.end() ?? [])];
}

function weather(): ToolArsenal {
  const arsenal = new ToolArsenal();
  arsenal.register(
    {
      name: "get_forecast",
      namespace: "weather",
      description: "Says what the weather will be in a city.",
      parameters: {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer" } },
        required: ["city"],
      } as const,
    },
    ({ city, days = 1 }) => {
      if (city === "Oslo") throw new Error("No station answers in Oslo.");
      return { city, days, celsius: 21 };
    },
  );
  arsenal.register(
    {
      name: "list_stations",
      namespace: "weather",
      description: "Lists the stations that measure.",
      parameters: { type: "object", properties: {} } as const,
    },
    () => ({ content: [{ type: "image", mimeType: "image/png", data: "AAAA" }] }),
  );
  return arsenal;
}

describe("recorded answers", () => {
  it("are there for every dialect that a model is spoken to in", () => {
    const recorded = new Set(RECORDINGS.map(({ dialect }) => dialect));
    expect(DIALECT_NAMES.filter((name) => !recorded.has(name))).toEqual(["openapi"]);
  });

  it.each(RECORDINGS)(
    "$dialect: $title [001-processor-read-calls] [001-processor-write-results]",
    async (recording) => {
      const dialect = await toDialect(recording.dialect as DialectName);
      const read = readAll(dialect, recording);
      expect(
        read.map(({ call, problem }) => [call.toolName, problem === undefined ? call.arguments : undefined]),
      ).toEqual(recording.calls);
      expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);

      await using arsenal = weather();
      const answered = await answerCalls(read, (call) => arsenal.execute(call));
      expect(answered.map(({ result }) => result.status)).toEqual(
        recording.calls.map(([, args]) => (args === undefined || args["city"] === "Oslo" ? "failure" : "success")),
      );
      const written = JSON.stringify(dialect.writeResults(answered));
      for (const [index, [name, args]] of recording.calls.entries()) {
        expect(written).toContain(outcomeOf(name, args));
        const { id = "", idMadeUp } = read[index] ?? {};
        // MCP's results go back through the request they belong to.
        if (idMadeUp !== true && recording.dialect !== "mcp") expect(written).toContain(id);
      }
    },
  );
});

/** What the provider must be told of a call. */
function outcomeOf(name: string, args: Readonly<Record<string, unknown>> | undefined): string {
  if (args === undefined) return "The arguments are";
  if (args["city"] === "Oslo") return "No station answers in Oslo.";
  return name === "weather-list_stations" ? "image/png" : "celsius";
}
