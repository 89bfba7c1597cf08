import assert from "node:assert/strict";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";
import type { AnsweredCall, Dialect, ReadCall } from "../transcode/dialect.port.ts";
import { SCHEMA_FEATURES } from "../transcode/features.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { resultOf, sampleTools } from "./sample-tools.ts";

/** A call for a sample answer. */
export interface SampleCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON. May be invalid JSON only if `sendsText` is true. */
  readonly arguments: string;
}

/** Samples of the provider's format, which only the test of a dialect can create. */
export interface DialectSamples {
  /** An answer with these calls, in the provider's format. */
  answer(calls: readonly SampleCall[]): unknown;
  /** The same answer as a stream. Required if the dialect reads streams. */
  stream?(calls: readonly SampleCall[]): readonly unknown[];
  /** True if the provider sends arguments as text, which may be malformed. */
  readonly sendsText: boolean;
  /** False if the provider's calls have no ids. */
  readonly hasIds?: boolean;
}

/** The contract of every dialect. */
export function dialectContract(make: Make<Dialect>, samples: DialectSamples): readonly ContractCase[] {
  return contract(make, { ...definitionClaims(), ...callClaims(samples), ...resultClaims() });
}

type Claims = Readonly<Record<string, (dialect: Dialect) => Promise<void>>>;

function definitionClaims(): Claims {
  const ofEachTool = (check: (dialect: Dialect, tool: Tool) => void) => async (dialect: Dialect) => {
    for (const tool of sampleTools()) check(dialect, tool);
  };
  return {
    "writes definitions that survive JSON": ofEachTool((dialect, tool) => {
      const definition = dialect.fromCanonical(tool);
      assert.deepEqual(throughJson(definition), definition);
      assert.deepEqual(dialect.convert(tool).definition, definition);
    }),
    "carries the description and every parameter": ofEachTool((dialect, tool) => {
      const text = JSON.stringify(dialect.fromCanonical(tool));
      assert.ok(text.includes(tool.description));
      for (const name of Object.keys(tool.parameters.properties ?? {})) assert.ok(text.includes(`"${name}"`));
    }),
    "gives names that model APIs accept, different for different tools": async (dialect) => {
      const names = [...sampleTools(), ...longNames()].map((tool) => nameIn(dialect, dialect.fromCanonical(tool)));
      for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
      assert.equal(new Set(names).size, names.length);
    },
    "writes another name if one is given": ofEachTool((dialect, tool) => {
      assert.equal(nameIn(dialect, dialect.fromCanonical(tool, { name: "another" })), "another");
    }),
    "gives back the tool that a definition was written from": async (dialect) => {
      for (const tool of [...sampleTools(), demandingTool()]) {
        for (const strict of [false, true]) {
          const { definition } = dialect.convert(tool, { strict });
          assert.deepEqual(dialect.toCanonical(definition), tool);
          assert.deepEqual(dialect.toCanonical(throughJson(definition), { original: tool }), tool);
        }
      }
    },
    "reads a foreign definition, and keeps it": ofEachTool((dialect, tool) => {
      const foreign = throughJson(dialect.fromCanonical(tool));
      const draft = dialect.toCanonical(foreign);
      assert.equal(draft.description, tool.description);
      assert.deepEqual(Object.keys(draft.parameters?.properties ?? {}), Object.keys(tool.parameters.properties ?? {}));
      assert.deepEqual(draft.sourceMeta?.["definition"], foreign);
    }),
    "refuses an invalid definition with INPUT_INVALID": async (dialect) => {
      for (const junk of JUNK) assert.throws(() => dialect.toCanonical(junk), { code: "INPUT_INVALID" });
    },
    "records what it does not support": async (dialect) => {
      for (const feature of SCHEMA_FEATURES) assert.equal(typeof dialect.supports(feature), "boolean");
      const { losses } = dialect.convert(demandingTool());
      for (const { feature, parameter } of DEMANDS) {
        const isTold = losses.some(({ path }) => `${path}/`.startsWith(`/properties/${parameter}/`));
        if (!dialect.supports(feature)) assert.ok(isTold, `${feature} is not supported, and no loss says so`);
      }
      for (const { path, message } of losses) {
        assert.match(path, /^(?:\/.*)?$/s);
        assert.notEqual(message, "");
      }
    },
    "is strict if requested, or reports why not": async (dialect) => {
      for (const tool of [...sampleTools(), demandingTool()]) {
        const { definition, strict, losses } = dialect.convert(tool, { strict: true });
        if (strict) assert.notDeepEqual(definition, dialect.fromCanonical(tool));
        const wasRefused = losses.some(({ action }) => action === "refused");
        assert.equal(wasRefused, !strict);
        assert.equal(dialect.convert(tool).strict, false);
      }
    },
    "hands out definitions of one's own": async (dialect) => {
      const [tool] = sampleTools();
      assert.ok(tool);
      const before = JSON.stringify(dialect.fromCanonical(tool));
      dialect.fromCanonical(tool)["added"] = true;
      assert.equal(JSON.stringify(dialect.fromCanonical(tool)), before);
    },
    "states limits that can be met": async ({ limits = {} }) => {
      for (const limit of Object.values(limits)) assert.ok(Number.isInteger(limit) && limit > 0);
    },
  };
}

function callClaims({ answer, stream, sendsText, hasIds = true }: DialectSamples): Claims {
  const reads = async (
    dialect: Dialect,
    calls: readonly SampleCall[],
    check: (read: readonly ReadCall[]) => void,
  ): Promise<void> => {
    check(dialect.readCalls(throughJson(answer(calls))));
    if (dialect.readStream === undefined) return;
    assert.ok(stream, "a dialect that reads streams needs samples of one");
    const reader = dialect.readStream();
    const events = stream(calls).map(throughJson);
    check([...events.flatMap((event) => reader.push(event)), ...reader.end()]);
    assert.deepEqual(reader.end(), []);
  };
  return {
    "reads every call of an answer, in order": async (dialect) => {
      await reads(dialect, CALLS, (read) => {
        assert.deepEqual(
          read.map(({ call }) => call),
          CALLS.map(({ name, arguments: text }) => ({ toolName: name, arguments: JSON.parse(text) as unknown })),
        );
        assert.ok(read.every(({ problem }) => problem === undefined));
        const ids = read.map(({ id }) => id);
        assert.equal(new Set(ids).size, CALLS.length);
        if (hasIds) assert.ok(ids.every((id, at) => id === CALLS[at]?.id));
        else assert.ok(read.every(({ idMadeUp }) => idMadeUp === true));
      });
    },
    "takes empty arguments for none": async (dialect) => {
      const empty = sendsText ? ["", "{}"] : ["{}"];
      for (const text of empty)
        await reads(dialect, [{ id: "call_a", name: "ping", arguments: text }], ([read, ...others]) =>
          assert.deepEqual([read?.call, others], [{ toolName: "ping", arguments: {} }, []]),
        );
    },
    "reports unreadable arguments, and reads the other calls": async (dialect) => {
      if (!sendsText) return;
      for (const text of ['{"city": "Par', "[1, 2]", '"text"', "not json"]) {
        const calls = [{ id: "call_a", name: "broken", arguments: text }, ...CALLS.slice(0, 1)];
        await reads(dialect, calls, ([broken, sound]) => {
          assert.equal(broken?.rawArguments, text);
          assert.equal(broken.call.arguments, undefined);
          assert.match(broken.problem ?? "", /arguments/);
          assert.equal(sound?.problem, undefined);
        });
      }
    },
    "finds no calls where there are none, whatever it is given": async (dialect) => {
      for (const junk of [...JUNK, { choices: 5 }, { content: [null, 7, "x"] }, { message: { tool_calls: "no" } }])
        assert.deepEqual(dialect.readCalls(junk), []);
      const reader = dialect.readStream?.();
      for (const junk of [...JUNK, { choices: [null] }, { type: "unknown" }])
        assert.deepEqual(reader?.push(junk) ?? [], []);
      assert.deepEqual(reader?.end() ?? [], []);
    },
  };
}

function resultClaims(): Claims {
  return {
    "answers every call, with its id where the provider gave one": async (dialect) => {
      const results = [answered("call_a", "first", "one"), answered("call_b", "second", "two")];
      const text = JSON.stringify(dialect.writeResults(results));
      for (const part of ["one", "two"]) assert.ok(text.includes(part));
      assert.ok(text.indexOf("one") < text.indexOf("two"));
      assert.deepEqual(dialect.writeResults([]), []);
    },
    "writes data as JSON that can be read again": async (dialect) => {
      const written = JSON.stringify(dialect.writeResults([answered("call_a", "weather", { celsius: 21.5 })]));
      assert.match(written.replaceAll("\\", ""), /"celsius":21\.5/);
    },
    "reports the error": async (dialect) => {
      const { read, result } = answered("call_a", "pay", undefined);
      const error = { code: "EXECUTION_FAILED", message: "The card was refused." } as const;
      const failed: AnsweredCall = { read, result: { ...result, status: "failure", error } };
      const told = dialect.writeResults([failed]);
      assert.ok(JSON.stringify(told).includes("The card was refused."));
      const problem = "The arguments are not valid JSON.";
      const unread: AnsweredCall = { read: { ...failed.read, problem }, result: failed.result };
      assert.ok(JSON.stringify(dialect.writeResults([unread])).includes(problem));
    },
    "carries text, images and files, or says that they are there": async (dialect) => {
      const result = {
        content: [
          { type: "text", text: "A chart." },
          { type: "image", mimeType: "image/png", data: PIXEL },
          { type: "audio", mimeType: "audio/wav", data: "UklGRg==" },
          { type: "resource", resource: { uri: "file:///a.txt", text: "inside" } },
          { type: "resource_link", uri: "https://example.com/b", name: "b" },
        ],
        structuredContent: { points: 3 },
      };
      const text = JSON.stringify(dialect.writeResults([answered("call_a", "chart", result)])).replaceAll("\\", "");
      for (const part of ["A chart.", "inside", "https://example.com/b", '"points":3'])
        assert.ok(text.includes(part), part);
      assert.ok(text.includes(PIXEL) || text.includes(BYTES) || text.includes("image/png, "));
      assert.ok(text.includes("UklGRg==") || text.includes("audio/wav, "));
    },
    "writes something where a tool returned nothing": async (dialect) => {
      for (const nothing of [undefined, null, "", { content: [] }])
        assert.equal(dialect.writeResults([answered("call_a", "quiet", nothing)]).length, 1);
    },
  };
}

const CALLS: readonly SampleCall[] = [
  { id: "call_one", name: "crm-find_customer", arguments: '{"name":"Dana","limit":3}' },
  {
    id: "call_two",
    name: "crm-find_customer",
    arguments: '{"name":"Ümit \\"U\\"","tags":["a"],"nested":{"deep":null}}',
  },
  { id: "call_three", name: "weather", arguments: "{}" },
];

const JUNK: readonly unknown[] = [undefined, null, 5, "text", true, [], [[]], {}, { type: "nonsense" }];

/** A red pixel, and its first bytes as JSON. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const BYTES = '"0":137,"1":80';

/** Parameters of a tool that uses many features, and the feature that each parameter needs. */
const DEMANDS = [
  { feature: "pattern", parameter: "code" },
  { feature: "format", parameter: "day" },
  { feature: "uniqueItems", parameter: "stops" },
  { feature: "oneOf", parameter: "by" },
  { feature: "not", parameter: "budget" },
  { feature: "patternProperties", parameter: "extras" },
  { feature: "ref", parameter: "first" },
] as const;

function demandingTool(): Tool {
  return defineTool({
    name: "plan_trip",
    namespace: "travel",
    description: "Plans a trip with everything a schema can ask for.",
    parameters: {
      type: "object",
      properties: {
        code: { type: "string", pattern: "^[A-Z]{3}$" },
        day: { type: "string", format: "date" },
        stops: { type: "array", items: { type: "string" }, uniqueItems: true },
        by: { oneOf: [{ const: "rail" }, { type: "object", properties: { seats: { type: "integer", minimum: 1 } } }] },
        budget: { type: "number", not: { const: 0 } },
        extras: { type: "object", patternProperties: { "^x-": { type: "string" } } },
        first: { $ref: "#/$defs/leg" },
        note: { type: ["string", "null"], default: null },
      },
      required: ["code"],
      $defs: { leg: { type: "object", properties: { next: { $ref: "#/$defs/leg" } } } },
    },
  });
}

function longNames(): readonly Tool[] {
  const long = { name: "x".repeat(100), description: "A tool with a very long name.", parameters: { type: "object" } };
  return ["a", "b"].map((namespace) => defineTool({ ...long, namespace }));
}

function nameIn(dialect: Dialect, definition: Record<string, unknown>): string {
  return dialect.toCanonical(throughJson(definition)).name ?? "";
}

function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

function answered(id: string, toolName: string, result: unknown): AnsweredCall {
  return { read: { id, call: { toolName, arguments: {} } }, result: resultOf(toolName, result) };
}
