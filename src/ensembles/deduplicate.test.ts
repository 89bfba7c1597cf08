import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answeredIds, ANSWERS } from "../../test/transcode/sample-answers.ts";
import { type DialectMessages, DIALECT_NAMES } from "../adapters/dialects/built-in.ts";
import { ToolArsenal } from "../arsenal.ts";
import { createEnsemble, createInvoker } from "./create-ensemble.ts";
import { deduplicate } from "./deduplicate.ts";
import { createInvocationsProcessor } from "./invocations.ts";
import type { Invocation, InvocationResult } from "./records.ts";

const LONG = "Partly cloudy, with a light wind from the west and a chance of fog in the evening. ".repeat(5);
const timestamp = "2026-01-01T00:00:00.000Z";

/** An invocation and its result. */
function turn(
  id: string,
  content: unknown,
  { name = "get_weather", city = "SF", ...more }: Partial<InvocationResult> & { readonly city?: string } = {},
): readonly (Invocation | InvocationResult)[] {
  const call: Invocation = { id, name, arguments: { city }, timestamp };
  return [call, { invocationId: id, name, content, timestamp, ...more }];
}

const contents = (records: readonly object[]): readonly unknown[] =>
  records.filter((record) => "invocationId" in record).map((record) => (record as InvocationResult).content);

describe("deduplicate", () => {
  it("leaves out a repeated result, and refers to the latest [001-flow-deduplicate]", () => {
    const records = [...turn("call_1", LONG), ...turn("call_2", LONG, { city: "LA" }), ...turn("call_3", LONG)];
    expect(contents(deduplicate(records))).toEqual([
      "The same as the result of call_3, a later call of get_weather with the same arguments.",
      LONG,
      LONG,
    ]);
    expect(deduplicate(records)[1]).toMatchObject({ invocationId: "call_1", sameAs: "call_3" });
  });

  it("does so only when the conversation nears its limit [001-flow-deduplicate]", () => {
    const records = [{ role: "user", text: "What's the weather?" }, ...turn("call_1", LONG), ...turn("call_2", LONG)];
    const countTokens = (text: string): number => text.length;
    const size = records.reduce((sum, record) => sum + JSON.stringify(record).length, 0);
    expect(deduplicate(records, { maxTokens: size, countTokens })).toBe(records);
    const shorter = deduplicate(records, { maxTokens: size - 1, countTokens });
    expect(contents(shorter)).toEqual([expect.stringContaining("call_2"), LONG]);
    expect(shorter[0]).toBe(records[0]);
    expect(JSON.stringify(shorter).length).toBeLessThan(JSON.stringify(records).length - LONG.length / 2);
  });

  it("leaves out an older result that differs only if the tool is confirmed read-only", () => {
    const newer = `${LONG} Now it rains.`;
    const written = [...turn("call_1", LONG), ...turn("call_2", newer)];
    expect(deduplicate(written)).toBe(written);
    const read = [...turn("call_1", LONG, { readOnly: true }), ...turn("call_2", newer, { readOnly: true })];
    expect(contents(deduplicate(read))).toEqual([
      "Left out: see the newer result of call_2, a later call of get_weather with the same arguments.",
      newer,
    ]);
  });

  it("keeps failures, short results and other tools' results", () => {
    const error = { code: "TIMEOUT", category: "timeout", message: "Too slow." } as const;
    const records = [
      ...turn("call_1", LONG, { error }),
      ...turn("call_2", "62°F"),
      ...turn("call_3", LONG, { name: "get_tide" }),
      ...turn("call_4", "62°F"),
      ...turn("call_5", LONG, { error }),
    ];
    expect(deduplicate(records)).toBe(records);
  });

  it("pairs each result with the nearest call before it, for providers that use an id again", () => {
    const records = [...turn("0", LONG), ...turn("0", LONG, { city: "LA" }), ...turn("0", LONG)];
    expect(contents(deduplicate(records))).toEqual([expect.stringContaining("The same as"), LONG, LONG]);
  });

  it("keeps the latest full result of every call, and every result in its place", () => {
    const arbitraryTurn = fc.record({
      city: fc.constantFrom("SF", "LA"),
      content: fc.constantFrom(LONG, `${LONG}!`, "short"),
      readOnly: fc.boolean(),
      id: fc.constantFrom("a", "b", "c"),
    });
    fc.assert(
      fc.property(fc.array(arbitraryTurn, { maxLength: 8 }), (turns) => {
        const records = turns.flatMap(({ id, content, city, readOnly }) =>
          turn(id, content, { city, ...(readOnly && { readOnly }) }),
        );
        const shorter = deduplicate(records);
        expect(shorter.map((record) => ({ ...record, content: 0, sameAs: 0 }))).toEqual(
          records.map((record) => ({ ...record, content: 0, sameAs: 0 })),
        );
        for (const city of ["SF", "LA"]) {
          const last = turns.findLastIndex((each) => each.city === city);
          if (last !== -1) expect(contents(shorter)[last]).toBe(turns[last]?.content);
        }
        expect(deduplicate(shorter)).toBe(shorter);
      }),
    );
  });
});

describe("executeInvocations with the records so far", () => {
  it("refers to an earlier result instead of repeating it, and only if it is the same", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    let weather = LONG;
    let runs = 0;
    const invokers = [
      createInvoker({ name: "look", description: "Tells the weather.", invocable: () => (runs++, weather) }),
    ];
    const sky = createEnsemble({ name: "sky", invokers }, { arsenal });
    await sky.connect();
    const processor = await createInvocationsProcessor({ dialect: "anthropic" });
    const records: (Invocation | InvocationResult)[] = [];
    const look = async (...ids: readonly string[]): Promise<readonly unknown[]> => {
      const invocations = ids.map((id): Invocation => ({ id, name: "sky-look", arguments: {}, timestamp }));
      const results = await processor.executeInvocations(invocations, [sky], { earlier: records });
      records.push(...invocations, ...results);
      return contents(results);
    };
    const same = (id: string) =>
      `The same as the result of ${id}, an earlier call of sky-look with the same arguments.`;

    expect(await look("call_1", "call_2")).toEqual([LONG, same("call_1")]);
    expect(await look("call_3")).toEqual([same("call_1")]);
    weather = `${LONG} Now it rains.`;
    expect(await look("call_4", "call_5")).toEqual([weather, same("call_4")]);
    expect(runs).toBe(5);
    expect(deduplicate(records)).toBe(records);
    const [off] = await processor.executeInvocations([records[0] as Invocation], [sky]);
    expect(off?.content).toBe(weather);
  });
});

describe.each(DIALECT_NAMES)("a deduplicated conversation in the dialect %s", (dialect: keyof DialectMessages) => {
  it("still has a result for every call of every turn", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    const read = createInvoker({
      name: "read_file",
      description: "Reads the contents of a file.",
      annotations: { readOnly: true },
      argumentsSchema: { type: "object", properties: { path: { type: "string" } } },
      invocable: (_context, { path }) => `${path}: ${LONG}`,
    });
    const io = createEnsemble({ name: "io", invokers: [read] }, { arsenal });
    await io.connect();
    const processor = await createInvocationsProcessor({ dialect });
    const turns: { readonly invocations: readonly Invocation[]; readonly results: readonly InvocationResult[] }[] = [];
    for (const [first, second] of [
      ["a", "b"],
      ["a", "c"],
      ["c", "b"],
    ] as const) {
      const calls = [first, second].map((path) => ({
        id: `call_${turns.length}${path}`,
        name: "io-read_file",
        arguments: { path },
      }));
      const invocations = processor.normalizeInvocations(ANSWERS[dialect](calls));
      turns.push({ invocations, results: await processor.executeInvocations(invocations, [io]) });
    }

    const records = deduplicate(turns.flatMap(({ invocations, results }) => [...invocations, ...results]));
    const resent = turns.map(({ invocations }) => {
      const ids = new Set(invocations.map(({ id }) => id));
      const isOurs = (record: object): record is InvocationResult =>
        "invocationId" in record && ids.has(String(record.invocationId));
      return processor.nativizeResults(records.filter(isOurs));
    });
    const texts = resent.map((messages) => JSON.stringify(messages));
    expect(texts.map((text) => ["a", "b", "c"].filter((path) => text.includes(`${path}: Partly`)))).toEqual([
      [],
      ["a"],
      ["b", "c"],
    ]);
    if (dialect === "mcp" || dialect === "openapi") return;
    expect(resent.map((messages) => answeredIds(messages))).toEqual(
      turns.map(({ invocations }) => invocations.map(({ id, idMadeUp }) => (idMadeUp === true ? "" : id))),
    );
  });
});
