import { describe, expect, it } from "vitest";
import { documentOf, startEcho } from "../../../../../test/e2e/openapi-echo.ts";
import { openapiSource, type OpenApiSource } from "../openapi.ts";
import type { OpenApiSettings } from "../settings.ts";

const { signal } = new AbortController();

async function connected(document: object, settings: Partial<OpenApiSettings> = {}): Promise<OpenApiSource> {
  const source = openapiSource({ name: "test", document, ...settings });
  await source.connect({ signal });
  return source;
}

async function namesOf(source: OpenApiSource): Promise<readonly unknown[]> {
  return (await source.list({ signal })).map(({ draft }) => draft.name);
}

function jsonBody(schema: object): object {
  return { requestBody: { required: true, content: { "application/json": { schema } } } };
}

describe("filters", () => {
  const paths = {
    "/pets": {
      get: { operationId: "listPets", tags: ["pets"] },
      post: { operationId: "addPet", tags: ["pets", "admin"] },
    },
    "/pets/{id}": { delete: { operationId: "removePet", tags: ["admin"] } },
    "/users": { get: { operationId: "listUsers" } },
  };
  it.each([
    [{ include: { tags: ["PETS"] } }, ["listPets", "addPet"]],
    [{ include: { paths: ["/pets*"], methods: ["get", "delete"] } }, ["listPets", "removePet"]],
    [{ include: { operationIds: ["list*"] } }, ["listPets", "listUsers"]],
    [{ exclude: { tags: ["admin"], paths: ["/users"] } }, ["listPets"]],
    [{ include: { paths: ["/pets"] }, exclude: { methods: ["POST"] } }, ["listPets"]],
  ])("%j leave %j", async (filters, names) => {
    expect(await namesOf(await connected(documentOf(paths), filters))).toEqual(names);
  });

  it("take the characters of a regular expression literally, and end for a pattern that would keep one busy for ever", async () => {
    const long = `/${"a".repeat(5_000)}`;
    const document = documentOf({ [long]: { get: { operationId: "long" } }, "/a.b": { get: { operationId: "dot" } } });
    const hostile = await connected(document, { include: { paths: [`${"*a".repeat(400)}*b`] } });
    expect(await namesOf(hostile)).toEqual([]);
    expect(await namesOf(await connected(document, { include: { paths: ["/a.b", "/[a]+"] } }))).toEqual(["dot"]);
  });

  it("are refused if they are too long or too many, with the limit", async () => {
    const many = Array.from({ length: 501 }, () => "a");
    await expect(connected(documentOf(paths), { include: { tags: many } })).rejects.toThrow(
      "include.tags has 501 patterns; the limit is 500.",
    );
    await expect(connected(documentOf(paths), { exclude: { paths: ["a".repeat(1_001)] } })).rejects.toThrow(
      "exclude.paths.0 has 1001 characters, and a pattern may have 1000.",
    );
  });

  it("leave out an operation with a tag too long to compare, and say so", async () => {
    const document = documentOf({ "/a": { get: { operationId: "one", tags: ["t".repeat(10_001)] } } });
    const source = await connected(document, { exclude: { tags: ["secret"] } });
    expect(await namesOf(source)).toEqual([]);
    expect(source.problems[0]?.reason).toBe("one of its tags has 10001 characters; the limit is 10000");
  });
});

describe("a broken operation", () => {
  it.each([
    ["a parameter without a name", { parameters: [{ in: "query" }] }, /^a parameter's name is undefined/],
    [
      "a parameter nowhere",
      { parameters: [{ name: "q", in: "querystring" }] },
      /"q" is in "querystring", which cannot be sent/,
    ],
    [
      "an unknown style",
      { parameters: [{ name: "q", in: "query", style: "matrix" }] },
      /has the unsupported style "matrix"/,
    ],
    [
      "a parameter that is not there",
      { parameters: [{ $ref: "#/components/parameters/none" }] },
      /which does not exist/,
    ],
    ["a parameter elsewhere", { parameters: [{ $ref: "other.yaml#/a" }] }, /is in another document, "other\.yaml#\/a"/],
    [
      "a parameter that refers to itself",
      { parameters: [{ $ref: "#/components/parameters/loop" }] },
      /refers to itself/,
    ],
    [
      "a schema that is not there",
      jsonBody({ type: "array", items: { $ref: "#/components/schemas/none" } }),
      /refers to #\/components\/schemas\/none/,
    ],
    ["parameters that are no list", { parameters: {} }, /instead of a list/],
  ])("for %s is left out and reported; the others stay", async (_what, operation, reason) => {
    const events: unknown[] = [];
    const document = documentOf(
      { "/bad": { post: operation }, "/good": { get: {} }, "/elsewhere": { $ref: "https://x.test/paths.yaml" } },
      { components: { parameters: { loop: { $ref: "#/components/parameters/loop" } } } },
    );
    const source = openapiSource({ name: "test", document });
    await source.connect({ signal, emit: (name, data) => void events.push([name, data]) });
    expect(await namesOf(source)).toEqual(["GET /good"]);
    expect(source.problems).toEqual([
      { operation: "/elsewhere", reason: expect.stringContaining("another document") as string, skipped: true },
      { operation: "POST /bad", reason: expect.stringMatching(reason) as string, skipped: true },
    ]);
    expect(events.length).toBe(2);
  });

  it("of Swagger 2 does not take the others with it", async () => {
    const document = {
      swagger: "2.0",
      paths: { "/a": { get: { parameters: [{ name: "x" }] }, put: {} }, "/b": { parameters: [{}], get: {} } },
    };
    const source = await connected(document);
    expect(await namesOf(source)).toEqual(["PUT /a"]);
    expect(source.problems.map(({ operation }) => operation)).toEqual(["GET /a", "GET /b"]);
  });

  it("is none where only a schema lies elsewhere: it is reported and not fetched", async () => {
    const server = await startEcho();
    const elsewhere = `${server.url}/pet.json`;
    const document = documentOf({
      "/it": { post: jsonBody({ type: "object", properties: { pet: { $ref: elsewhere } } }) },
    });
    const source = await connected(document);
    const [tool] = await source.list({ signal });
    expect(tool?.draft.parameters?.properties?.["pet"]).toEqual({
      description: `Described in ${elsewhere}, which is not part of this document.`,
    });
    expect(source.problems).toEqual([
      { operation: "POST /it", reason: `${elsewhere} is another document, which is not read`, skipped: false },
    ]);
    expect(server.sent).toEqual([]);
    await server.close();
  });
});
