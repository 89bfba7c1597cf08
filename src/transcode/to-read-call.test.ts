import { describe, expect, it } from "vitest";
import { toReadCall } from "./to-read-call.ts";

const read = (args: unknown): ReturnType<typeof toReadCall> =>
  toReadCall({ id: "a", name: "ping", arguments: args }, 0);

describe("toReadCall", () => {
  it.each([undefined, null, "", "  ", "{}", "null", {}])("takes %j for no arguments", (args) => {
    expect(read(args).call).toEqual({ toolName: "ping", arguments: {} });
  });

  it("reads JSON that was written as a JSON text once more", () => {
    expect(read(JSON.stringify('{"n":1}')).call.arguments).toEqual({ n: 1 });
  });

  it.each([
    ['{"n":', "The arguments are not valid JSON: "],
    ["[1]", "The arguments are a list, not an object. Call the tool again with one JSON object as its arguments."],
    ['"text"', "The arguments are a string, not an object."],
    ["5", "The arguments are a number, not an object."],
    [["x"], "The arguments are a list, not an object."],
    [true, "The arguments are a boolean, not an object."],
  ])("tells what is wrong with %j", (args, problem) => {
    expect(read(args)).toMatchObject({
      problem: expect.stringContaining(problem) as string,
      call: { toolName: "ping" },
    });
    expect(read(args).call.arguments).toBeUndefined();
  });

  it.each([undefined, "", 5, null])("tells of a call whose name is %j", (name) => {
    expect(toReadCall({ id: "a", name, arguments: {} }, 0).problem).toMatch(/^The call names no tool\./);
  });

  it.each([undefined, "", null, 7])("makes up an id in place of %j", (id) => {
    expect(toReadCall({ id, name: "ping", arguments: {} }, 2)).toMatchObject({ id: "call_3", idMadeUp: true });
  });
});
