import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { type JsonSchema, ToolArsenal, type ToolResult } from "../../src/index.ts";
import type { Source } from "../../src/adapters/sources/index.ts";

interface Hostile {
  readonly parameters: JsonSchema;
  readonly description?: string;
  readonly arguments?: Record<string, unknown>;
  /** What calling the tool gives: an error's code, or `success`. */
  readonly gives: string;
}

let requests = 0;
const server = createServer((_request, response) => {
  requests++;
  response.end("{}");
}).listen(0, "127.0.0.1");
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/schema.json`;

const object = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  ...more,
});
const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

function nested(levels: number): JsonSchema {
  let schema: JsonSchema = { type: "string" };
  for (let level = 0; level < levels; level++) schema = object({ a: schema });
  return schema;
}

function nestedArguments(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

/** Each definition refers to the next one twice: 2^levels schemas for one value. */
function doubling(levels: number, of: (ref: JsonSchema) => JsonSchema): JsonSchema {
  const definitions = Object.fromEntries(
    times(levels, (level) => [`d${level}`, of({ $ref: `#/definitions/d${level + 1}` })]),
  );
  return object({}, { allOf: [{ $ref: "#/definitions/d0" }], definitions: { ...definitions, [`d${levels}`]: {} } });
}

const EVIL = "^(a+)+$";
const ATTACK = `${"a".repeat(50)}!`;

const CASES: Readonly<Record<string, () => Hostile>> = {
  "nesting 1,000 deep": () => ({ parameters: nested(1_000), gives: "TOOL_INVALID" }),
  "nesting 100,000 deep": () => ({ parameters: nested(100_000), gives: "TOOL_INVALID" }),
  "2^22 schemas by allOf and $ref": () => ({
    parameters: doubling(22, (ref) => ({ allOf: [ref, ref] })),
    gives: "TOOL_INVALID",
  }),
  "2^40 schemas by members and deep arguments": () => ({
    parameters: doubling(40, (ref) => ({ allOf: [object({ a: ref }), object({ a: ref })] })),
    arguments: nestedArguments(45),
    gives: "ARGUMENTS_INVALID",
  }),
  "a $ref to itself": () => ({ parameters: { type: "object", $ref: "#" }, gives: "TOOL_INVALID" }),
  "$refs in a circle": () => ({
    parameters: object(
      {},
      { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { anyOf: [{ $ref: "#/$defs/a" }] } } },
    ),
    gives: "TOOL_INVALID",
  }),
  "1,000,000 enum values": () => ({
    parameters: object({ a: { enum: times(1_000_000, String) } }),
    gives: "TOOL_INVALID",
  }),
  "50,000 properties": () => ({
    parameters: object(Object.fromEntries(times(50_000, (index) => [`p${index}`, { type: "string" }]))),
    gives: "TOOL_INVALID",
  }),
  "6,000 properties, which is large but allowed": () => ({
    parameters: object(Object.fromEntries(times(6_000, (index) => [`p${index}`, { type: "string" }]))),
    arguments: { p5: "x" },
    gives: "success",
  }),
  "the pattern ^(a+)+$": () => ({
    parameters: object({ text: { type: "string", pattern: EVIL } }),
    arguments: { text: ATTACK },
    gives: "ARGUMENTS_INVALID",
  }),
  "an evil pattern that RE2 cannot run": () => ({
    parameters: object({ text: { type: "string", pattern: "^(?=a)(a+)+\\1$" } }),
    arguments: { text: ATTACK },
    gives: "TOOL_INVALID",
  }),
  "an evil pattern for names": () => ({
    parameters: object({}, { patternProperties: { [EVIL]: { type: "string" } }, additionalProperties: false }),
    arguments: { [ATTACK]: "x" },
    gives: "ARGUMENTS_INVALID",
  }),
  "a $ref to http": () => ({ parameters: object({ a: { $ref: address() } }), gives: "TOOL_INVALID" }),
  "an $id at http with a relative $ref": () => ({
    parameters: object({ a: { $ref: "other.json" } }, { $id: address() }),
    gives: "TOOL_INVALID",
  }),
  "a $schema and a $dynamicRef to http": () => ({
    parameters: object({ a: { $dynamicRef: address() } }, { $schema: address() }),
    gives: "TOOL_INVALID",
  }),
  "a $ref to a file": () => ({ parameters: object({ a: { $ref: "file:///etc/passwd" } }), gives: "TOOL_INVALID" }),
  "a description of 20 MB": () => ({
    parameters: object({}),
    description: "many words ".repeat(2_000_000),
    gives: "success",
  }),
  "a parameter's description of 20 MB": () => ({
    parameters: object({ a: { description: "many words ".repeat(2_000_000) } }),
    gives: "TOOL_INVALID",
  }),
  "uniqueItems on 100,000 items": () => ({
    parameters: object({ list: { uniqueItems: true } }),
    arguments: { list: times(100_000, (index) => [index]) },
    gives: "success",
  }),
  "formats on long texts": () => ({
    parameters: object(
      Object.fromEntries(["email", "uri", "url", "hostname", "ipv6"].map((format) => [format, { format }])),
    ),
    arguments: {
      email: `a@${"a-".repeat(100_000)}!`,
      uri: `a://${"a:".repeat(100_000)}@`,
      url: `http://${"a-".repeat(100_000)}!`,
      hostname: "a.".repeat(100_000),
      ipv6: "0:".repeat(100_000),
    },
    gives: "ARGUMENTS_INVALID",
  }),
  "arguments 100,000 deep": () => ({
    parameters: object({ a: { $ref: "#" } }),
    arguments: nestedArguments(100_000),
    gives: "CALL_INVALID",
  }),
  "null where a schema should be": () => ({
    parameters: object({ a: { allOf: [null] } as unknown as JsonSchema }),
    gives: "TOOL_INVALID",
  }),
};

/** A server that offers a hostile tool between two good ones. */
function sourceOf(hostile: Hostile): Source {
  const draft = (name: string, description: string, parameters: JsonSchema) => ({
    draft: { name, description, parameters },
    handler: () => "done",
  });
  const tools = [
    draft("read_weather", "Reads the weather of a city.", object({ city: { type: "string" } }, { required: ["city"] })),
    draft("hostile", hostile.description ?? "Does something hostile.", hostile.parameters),
    draft("send_letter", "Sends a letter to somebody.", object({ to: { type: "string", pattern: "^[a-z]+$" } })),
  ];
  return {
    name: "outside",
    kind: "mcp",
    connect: async () => {},
    list: async () => tools,
    disconnect: async () => {},
  };
}

/** Waits until the delay was looked at twice more: what happened before is then in it. */
async function sampled(delay: ReturnType<typeof monitorEventLoopDelay>): Promise<void> {
  const before = delay.count;
  while (delay.count < before + 2) await nextTurn();
}

const outcomeOf = ({ status, error }: ToolResult): string => error?.code ?? status;

describe("a source with a hostile schema", () => {
  it.each(Object.keys(CASES))(
    "%s: is safe to call, and its other tools are served",
    { timeout: 60_000 },
    async (name) => {
      const hostile = CASES[name]?.();
      if (!hostile) throw new Error(name);
      const source = sourceOf(hostile);
      await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
      // What is loaded with the first call is not the hostile tool's doing.
      arsenal.register({ name: "warm_up", description: "Warms up the arsenal.", parameters: object({}) }, () => "warm");
      await arsenal.execute({ toolName: "warm_up" });

      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      await sampled(delay);
      expect(await arsenal.add(source)).toBe(3);
      await arsenal.sync();
      const listed = await arsenal.listTools({ namespace: "outside" });
      const { tools } = await arsenal.retrieve({ context: { query: "what is the weather in Oslo?" } });
      const bad = await arsenal.execute({ toolName: "outside.hostile", arguments: hostile.arguments ?? {} });
      const good = [
        await arsenal.execute({ toolName: "read_weather", arguments: { city: "Oslo" } }),
        await arsenal.execute({ toolName: "send_letter", arguments: { to: "5" } }),
      ];
      const again = await arsenal.execute({ toolName: "outside.hostile", arguments: hostile.arguments ?? {} });
      await sampled(delay);
      delay.disable();
      process.stderr.write(
        `${name}: ${outcomeOf(bad)}, longest delay of the event loop ${(delay.max / 1e6).toFixed(0)} ms\n`,
      );

      expect(listed.map(({ id }) => id)).toEqual(["outside.hostile", "outside.read_weather", "outside.send_letter"]);
      expect(tools[0]?.tool.id).toBe("outside.read_weather");
      expect([bad, again].map(outcomeOf)).toEqual([hostile.gives, hostile.gives]);
      expect(good.map(outcomeOf)).toEqual(["success", "ARGUMENTS_INVALID"]);
      expect(requests).toBe(0);
    },
  );
});
