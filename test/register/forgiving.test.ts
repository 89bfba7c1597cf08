import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { afterEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";

const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;

let arsenal: ToolArsenal;
const create = (): ToolArsenal => (arsenal = new ToolArsenal({ telemetry: { level: "error" } }));
afterEach(() => arsenal.close());

describe("a name as other frameworks have it", () => {
  it.each(["getWeather", "get-weather", "GetWeather", "get.weather", "Get weather"])(
    "registers %s as get_weather and runs it by either name [000-4.1-name]",
    async (name) => {
      const tool = create().register(
        { name, description: "Tells the weather.", parameters: CITY },
        ({ city }) => `Sunny in ${city}`,
      );
      expect(tool).toMatchObject({ id: "default.get_weather", name: "get_weather", sourceName: name });
      for (const toolName of [name, "get_weather", "default.get_weather"]) {
        const call = { toolName, arguments: { city: "Oslo" } };
        expect(await arsenal.execute(call)).toMatchObject({ status: "success", result: "Sunny in Oslo" });
      }
      const [definition] = await arsenal.retrieveTools("What is the weather in Oslo?");
      expect(definition?.function.name).toBe("get_weather");
    },
  );

  it("is found in its namespace, by version, and by getTool and deleteTool", async () => {
    create().register({ name: "sendMail", namespace: "mail", description: "Sends a mail to a person." }, () => "sent");
    for (const toolName of ["mail.sendMail", "sendMail", "mail.sendMail:1.0.0"])
      expect(await arsenal.execute({ toolName })).toMatchObject({ result: "sent" });
    expect((await arsenal.execute({ toolName: "mail.sendMail:2.0.0" })).error?.code).toBe("TOOL_NOT_FOUND");
    expect((await arsenal.execute({ toolName: "other.sendMail" })).error?.code).toBe("TOOL_NOT_FOUND");
    expect((await arsenal.getTool("sendMail", "mail"))?.id).toBe("mail.send_mail");
    expect(await arsenal.deleteTool("sendMail", "mail")).toBe(true);
  });

  it("is taken from the function that has none given", async () => {
    create().register({ description: "Sends a mail to a person." }, function sendMail() {
      return "sent";
    });
    expect(await arsenal.execute({ toolName: "sendMail" })).toMatchObject({ toolName: "sendMail", result: "sent" });
  });

  it("holds for rules written with it: a denied name stays denied", async () => {
    arsenal = new ToolArsenal({ security: { deny: ["dropTable"] }, telemetry: { level: "error" } });
    arsenal.register({ name: "dropTable", description: "Drops a table of the database." }, () => "dropped");
    expect((await arsenal.execute({ toolName: "dropTable" })).status).not.toBe("success");
  });

  it("holds wherever a tool is named: in dependencies and in what a conversation used", async () => {
    create().register({ name: "findUser", description: "Finds a user by their name." }, () => "Ann");
    arsenal.register(
      {
        name: "sendInvoice",
        description: "Sends an invoice to a customer.",
        dependencies: [{ tool: "findUser", type: "requires" }],
        supersededBy: "default.mailInvoice",
      },
      () => "sent",
    );
    const tool = await arsenal.getTool("sendInvoice");
    expect(tool).toMatchObject({ dependencies: [{ tool: "find_user" }], supersededBy: "default.mail_invoice" });
    const context = { query: "Send an invoice to the customer.", toolsFailed: ["sendInvoice"] };
    const { tools } = await arsenal.retrieve({ context });
    expect(tools.map(({ tool: { name } }) => name).toSorted()).toEqual(["find_user", "send_invoice"]);
    const sent = tools.find(({ tool: { name } }) => name === "send_invoice");
    expect(sent?.signals.alreadyFailedPenalty).toBeGreaterThan(0);
  });

  it("clashes with another name that means the same, and the error names both", async () => {
    create().register({ name: "get_weather", description: "Tells the weather.", parameters: CITY }, () => 1);
    const clash = (): unknown =>
      arsenal.register({ name: "getWeather", description: "Tells the weather.", parameters: CITY }, () => 2);
    expect(clash).toThrow(/"getWeather".*"get_weather"/);
    expect(await arsenal.execute({ toolName: "get_weather", arguments: { city: "Oslo" } })).toMatchObject({
      result: 1,
    });
    const { registered, rejected } = await arsenal.add([
      { tool: { name: "findUser", description: "Finds a user by name." }, handler: () => 1 },
      { tool: { name: "find-user", description: "Finds a user by name." }, handler: () => 2 },
    ]);
    expect([registered.length, rejected[0]?.error.message]).toEqual([1, expect.stringContaining('"findUser"')]);
  });

  it("replaces the tool when it is registered again with the same spelling", async () => {
    const definition = { name: "getWeather", description: "Tells the weather." };
    create().register(definition, () => 1);
    arsenal.register(definition, () => 2);
    expect(await arsenal.execute({ toolName: "getWeather" })).toMatchObject({ result: 2 });
  });

  it.each(["", "  ", "!?", 7])("is refused if it is %j", (name) => {
    const definition = { name: name as string, description: "Tells the weather.", parameters: CITY };
    expect(() => create().register(definition, () => 1)).toThrow(/name must/);
  });
});

describe("what may be left out", () => {
  it("completes a short or missing description from the name and the parameters [000-4.1-description]", () => {
    const short = create().register({ name: "getWeather", description: "Weather", parameters: CITY }, () => 1);
    expect(short.description).toBe("Weather: get weather (parameters: city)");
    expect(short.sourceMeta).toEqual({ description: "Weather" });
    const missing = arsenal.register({ name: "listUsers" }, () => 1);
    expect(missing.description).toBe("List users (no parameters)");
  });

  it("continues a long description in the extended one [000-4.1-description]", () => {
    const tool = create().register({ name: "x", description: "A long sentence. ".repeat(200) }, () => 1);
    expect(tool.description.length).toBeLessThanOrEqual(2000);
    expect(tool.extendedDescription).toContain("A long sentence.");
  });

  it("takes a tool without parameters", async () => {
    create().register({ name: "now", description: "Tells the time of day." }, (args) => Object.keys(args).length);
    expect(await arsenal.execute({ toolName: "now" })).toMatchObject({ status: "success", result: 0 });
    expect((await arsenal.addTool({ name: "later", description: "Tells a later time." })).parameters).toEqual({
      type: "object",
      properties: {},
    });
  });

  it.each([["text"], [7], [[]], [{ type: "string" }]])("refuses parameters that are %j", (parameters) => {
    const definition = { name: "x", description: "Does something.", parameters: parameters as never };
    expect(() => create().register(definition, () => 1)).toThrow(/parameters/);
  });

  it("refuses a tool without a handler", () => {
    expect(() => create().register({ name: "x", description: "Does something." }, undefined as never)).toThrow(
      /handler must be the function/,
    );
  });
});

describe("a plain Valibot schema", () => {
  it("describes the parameters, checks them and transforms them", async () => {
    const parameters = v.object({
      city: v.pipe(v.string(), v.description("Where")),
      days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
      when: v.pipe(
        v.string(),
        v.isoDate(),
        v.transform((text) => new Date(text).getUTCFullYear()),
      ),
    });
    const tool = create().register(
      { name: "forecast", description: "Tells the weather of coming days.", parameters },
      ({ city, days, when }) => `${city} ${days} ${when}`,
    );
    expect(tool.parameters).toMatchObject({
      properties: { city: { type: "string", description: "Where" }, days: { type: "integer", minimum: 1, default: 1 } },
      required: ["city", "when"],
    });
    const good = { toolName: "forecast", arguments: { city: "Oslo", when: "2026-01-31" } };
    expect(await arsenal.execute(good)).toMatchObject({ status: "success", result: "Oslo 1 2026" });
    const bad = { toolName: "forecast", arguments: { city: "Oslo", when: "soon" } };
    expect((await arsenal.execute(bad)).error?.code).toBe("ARGUMENTS_INVALID");
  });

  const Colour = { Red: "red", Blue: "blue" } as const;

  it.each<[string, v.GenericSchema]>([
    ["texts", v.object({ a: v.pipe(v.string(), v.minLength(2), v.maxLength(5)), b: v.pipe(v.string(), v.email()) })],
    ["numbers", v.object({ a: v.pipe(v.number(), v.minValue(1), v.maxValue(9), v.multipleOf(2)), b: v.boolean() })],
    ["choices", v.object({ a: v.picklist(["x", "y"]), b: v.enum(Colour), c: v.literal("z") })],
    ["lists", v.object({ a: v.pipe(v.array(v.string()), v.minLength(1)), b: v.array(v.object({ c: v.number() })) })],
    [
      "what may be missing or null",
      v.object({ a: v.optional(v.string()), b: v.nullable(v.number()), c: v.nullish(v.string()) }),
    ],
    ["alternatives", v.object({ a: v.union([v.string(), v.number()]) })],
    ["records", v.object({ a: v.record(v.string(), v.number()) })],
    [
      "closed and open objects",
      v.object({ a: v.strictObject({ b: v.string() }), c: v.looseObject({ d: v.string() }) }),
    ],
    ["titles", v.object({ a: v.pipe(v.string(), v.title("Name"), v.description("Who")) })],
    ["patterns", v.object({ a: v.pipe(v.string(), v.regex(/^a+$/)), b: v.pipe(v.string(), v.uuid()) })],
    ["anything", v.object({ a: v.unknown(), b: v.any() })],
  ])("says of %s what Valibot's own converter says", (_what, schema) => {
    const { $schema: _schema, ...expected } = toJsonSchema(schema as never) as Record<string, unknown>;
    const tool = create().register({ name: "x", description: "Does something.", parameters: schema }, () => 1);
    expect(tool.parameters).toEqual(expected);
  });

  it("leaves a part that JSON Schema cannot say open, and Valibot still checks it", async () => {
    const parameters = v.object({
      a: v.pipe(
        v.string(),
        v.check((text) => text !== "bad", "not that"),
      ),
      b: v.optional(v.date()),
    });
    const tool = create().register({ name: "x", description: "Does something.", parameters }, ({ a }) => a);
    expect(tool.parameters).toMatchObject({ properties: { a: { type: "string" }, b: {} }, required: ["a"] });
    expect((await arsenal.execute({ toolName: "x", arguments: { a: "bad" } })).error?.message).toContain("not that");
  });
});
