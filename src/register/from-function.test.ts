import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { internalsOf, ToolArsenal } from "../arsenal.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Handler } from "../tool/handler.ts";
import { fromFunction, type FunctionDefinition } from "./from-function.ts";
import { registerBatch } from "./register-batch.ts";

const quiet = { telemetry: { enabled: false } } as const;
const nothing = { type: "object", properties: {} } as const;
const definition = { description: "Does what the test wants it to do.", parameters: nothing };

function errorOf(run: () => unknown): ArsenalError {
  try {
    run();
  } catch (error) {
    if (error instanceof ArsenalError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}

/** A function of this name. */
function called(name: string): Handler<unknown> {
  return Object.defineProperty(() => 1, "name", { value: name });
}

describe("the name of a function", () => {
  it.each([
    ["sendEmail", "send_email"],
    ["parseHTTPResponse", "parse_http_response"],
    ["v2Sync", "v2_sync"],
    ["getÜbersicht", "get_ubersicht"],
    ["bound sendEmail", "send_email"],
    ["list", "tool_list"],
    ["delete", "tool_delete"],
    ["_private", "private"],
  ])("%s serves as the tool's: %s", (name, expected) => {
    expect(fromFunction(definition, called(name)).tool).toMatchObject({ name: expected, source: "function" });
  });

  it("gives way to the definition's own, which must keep the rules", () => {
    expect(fromFunction({ ...definition, name: "other" }, called("sendEmail")).tool.name).toBe("other");
    const { message } = errorOf(() => fromFunction({ ...definition, name: "list" }, called("sendEmail")));
    expect(message).toBe(
      'Tool "list" is refused: name is reserved for the arsenal\'s own operations (it is "list"). Say what it works on: "list_items".',
    );
  });

  it("must be there where the definition has none", () => {
    const { code, message } = errorOf(() => fromFunction(definition, () => 1));
    expect([code, message]).toEqual([
      "TOOL_INVALID",
      "A tool is refused: name is missing, and the function has none either. Give the definition a name, or pass a function that has one.",
    ]);
  });

  it("serves in a batch too", async () => {
    const batch = [{ tool: definition, handler: called("sendEmail") }];
    const { registered } = await registerBatch({ add: () => [] }, batch, () => {});
    expect(registered.map(({ id }) => id)).toEqual(["default.send_email"]);
  });
});

describe("a wrong definition", () => {
  it("is refused with everything that is wrong with it", () => {
    const wrong = {
      description: 7,
      parameters: z.object({ when: z.date() }),
      namespace: "Not Good",
      version: "1",
      timeout: 5,
    } as unknown as FunctionDefinition;
    const { message, details } = errorOf(() => fromFunction(wrong, undefined as never));
    expect(details.issues?.map(({ field }) => field)).toEqual([
      "handler",
      "name",
      "parameters",
      "description",
      "namespace",
      "version",
      "timeout",
    ]);
    expect(details.issues?.find(({ field }) => field === "parameters")?.message).toContain(
      "zod schema that has no JSON Schema",
    );
    expect(message).toContain("6 more: name, parameters, description, namespace, version, timeout.");
  });

  it.each([undefined, null, "text", 5, []])("is refused where it is %j", (given) => {
    expect(errorOf(() => fromFunction(given as never, called("x"))).message).toContain("must be an object");
  });
});

describe("a schema of a library", () => {
  const cases: readonly (readonly [string, FunctionDefinition["parameters"]])[] = [
    ["zod", z.object({ at: z.string().transform((text) => text.length), loud: z.boolean().default(true) })],
    ["arktype", type({ at: "string", loud: "boolean = true" }).pipe((args) => ({ ...args, at: args.at.length }))],
    [
      "valibot",
      toStandardJsonSchema(
        v.object({
          at: v.pipe(
            v.string(),
            v.transform((text) => text.length),
          ),
          loud: v.optional(v.boolean(), true),
        }),
      ),
    ],
  ];

  it.each(cases)("of %s hands the function what it made of the arguments", async (_, parameters) => {
    await using arsenal = new ToolArsenal(quiet);
    arsenal.register({ name: "measure", description: "Measures how long a text is.", parameters }, (args) => args);
    const { result } = await arsenal.execute({ toolName: "measure", arguments: { at: "noon" } });
    expect(result).toEqual({ at: 4, loud: true });
  });

  it("refuses what JSON Schema cannot express, and is not held against the tool", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, execution: { circuitBreakerThreshold: 2 } });
    const parameters = z
      .object({ from: z.number(), to: z.number() })
      .refine(({ from, to }) => from < to, { message: "must be after from", path: ["to"] });
    arsenal.register(
      { name: "span", description: "Tells how far two numbers lie apart.", parameters },
      ({ from, to }) => {
        return to - from;
      },
    );
    for (let time = 0; time < 5; time++) {
      const { status, error } = await arsenal.execute({ toolName: "span", arguments: { from: 2, to: 1 } });
      expect([status, error?.code, error?.message]).toEqual([
        "failure",
        "ARGUMENTS_INVALID",
        "The arguments of default.span are not valid. to: must be after from",
      ]);
    }
    expect(internalsOf(arsenal).health("default.span")).toMatchObject({ circuitOpen: false, totalCalls: 0 });
    expect((await arsenal.execute({ toolName: "span", arguments: { from: 1, to: 3 } })).result).toBe(2);
  });
});
