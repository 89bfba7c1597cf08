import { expect, it } from "vitest";
import { readParamHeaders, toParamHeaders } from "./headers.ts";

const marked = (name: unknown, type: unknown = "string"): object => ({ type, "x-mcp-header": name });
const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });

it("sends the marked arguments as headers, wherever they lie", () => {
  const schema = object({
    region: marked("Region"),
    deep: object({ level: marked("Level", "integer"), on: marked("On", "boolean") }),
  });
  const read = readParamHeaders(schema);
  const headers = "headers" in read ? read.headers : [];
  expect(toParamHeaders(headers, { region: "us-west1", deep: { level: 42, on: false }, other: "x" })).toEqual({
    "Mcp-Param-Region": "us-west1",
    "Mcp-Param-Level": "42",
    "Mcp-Param-On": "false",
  });
  expect(toParamHeaders(headers, { deep: null })).toEqual({});
});

it.each([
  ["us-west1", "us-west1"],
  ["two words", "two words"],
  ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
  [" padded ", "=?base64?IHBhZGRlZCA=?="],
  ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
  ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ["", "=?base64??="],
])("encodes %j as %j", (value, encoded) => {
  expect(toParamHeaders([{ header: "Mcp-Param-Value", path: ["value"] }], { value })).toEqual({
    "Mcp-Param-Value": encoded,
  });
});

it.each([
  ["an empty name", object({ a: marked("") })],
  ["a name with a space", object({ a: marked("My Region") })],
  ["a name with a colon", object({ a: marked("Region:Primary") })],
  ["a name of other letters", object({ a: marked("Région") })],
  ["a name twice, in other case", object({ a: marked("Region"), b: marked("REGION") })],
  ["an object", object({ a: marked("A", "object") })],
  ["a number", object({ a: marked("A", "number") })],
  ["no type", object({ a: { "x-mcp-header": "A" } })],
  ["the items of an array", object({ a: { type: "array", items: marked("A") } })],
  ["a choice", object({ a: { anyOf: [marked("A")] } })],
  ["a definition", object({}, { $defs: { a: marked("A") } })],
  ["properties below a choice", object({ a: { anyOf: [object({ b: marked("A") })] } })],
])("finds a mark on %s at fault", (_, schema) => {
  expect(readParamHeaders(schema)).toEqual({ fault: expect.stringContaining("x-mcp-header") });
});

it("takes data and names of properties for what they are", () => {
  expect(readParamHeaders(object({ "x-mcp-header": { type: "string", default: { "x-mcp-header": "A" } } }))).toEqual({
    headers: [],
  });
  expect(readParamHeaders(undefined)).toEqual({ headers: [] });
});
