import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documentOf, startEcho } from "../../../../test/e2e/openapi-echo.ts";
import { toRegistrations } from "../../../register/to-registrations.ts";
import { sourceContract } from "../../../testing/source.contract.ts";
import type { SourceDraft } from "../../../tool/draft.ts";
import type { Tool } from "../../../tool/tool.ts";
import { openapiSource, type OpenApiSource } from "./openapi.ts";
import type { OpenApiSettings } from "./settings.ts";

const { signal } = new AbortController();
let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

const PETS = documentOf({ "/pets": { get: { operationId: "listPets" } } });

describe("the source contract", () => {
  for (const { name, run } of sourceContract(async () => ({
    adapter: openapiSource({ name: "pets", document: PETS }),
  })))
    it(name, run);
});

async function connected(
  settings: Partial<OpenApiSettings> & Pick<OpenApiSettings, "document">,
): Promise<OpenApiSource> {
  const source = openapiSource({ name: "test", ...settings });
  await source.connect({ signal });
  return source;
}

async function drafts(document: object, settings: Partial<OpenApiSettings> = {}): Promise<readonly SourceDraft[]> {
  const source = await connected({ document, ...settings });
  return (await source.list({ signal })).map(({ draft }) => draft);
}

async function draftOf(
  operation: object,
  more: object = {},
  settings: Partial<OpenApiSettings> = {},
): Promise<SourceDraft> {
  const [draft = {}] = await drafts(documentOf({ "/it/{id}": { post: operation } }, more), settings);
  return draft;
}

async function tools(document: object, settings: Partial<OpenApiSettings> = {}): Promise<readonly Tool[]> {
  const source = await connected({ document, ...settings });
  return (await toRegistrations(await source.list({ signal }), source, { now: 0 })).map(({ tool }) => tool);
}

const jsonBody = (schema: object, required = true): object => ({
  requestBody: { required, content: { "application/json": { schema } } },
});

describe("a document", () => {
  const yaml =
    "openapi: 3.0\ninfo: {}\npaths:\n  /pets:\n    get:\n      operationId: listPets\n      responses: {200: {description: ok}}\n";

  it.each([
    ["JSON", "pets.json", JSON.stringify(PETS)],
    ["YAML", "pets.yaml", yaml],
    ["YAML that looks like JSON", "flow.yaml", "{openapi: 3.1.0, paths: {/pets: {get: {operationId: listPets}}}}"],
    ["Swagger 2", "swagger.yaml", "swagger: 2.0\npaths: {/pets: {get: {operationId: listPets}}}"],
    ["OpenAPI 3.2", "pets32.json", JSON.stringify({ ...PETS, openapi: "3.2.0" })],
  ])("is read from a file of %s [003-adapter-openapi]", async (_what, name, text) => {
    const document = join(folder, name);
    await writeFile(document, text);
    const source = await connected({ document });
    const [tool] = await source.list({ signal });
    expect(tool?.draft).toMatchObject({ name: "listPets", sourceUri: document, source: "openapi" });
  });

  it("is read from an address, also a private one, which is shown without its query", async () => {
    const server = await startEcho((_request, response) => response.end(yaml));
    const source = await connected({ document: `${server.url}/openapi.yaml?token=x` });
    await server.close();
    const [tool] = await source.list({ signal });
    expect(tool?.draft.sourceUri).toBe(`${server.url}/openapi.yaml`);
    await source.disconnect();
  });

  it("that is an object stays as it is", async () => {
    const document = {
      swagger: "2.0",
      paths: { "/a": { get: { parameters: [{ name: "q", in: "query", type: "string" }] } } },
    };
    const before = structuredClone(document);
    await connected({ document });
    expect(document).toEqual(before);
  });

  it.each([
    ["none", join("no", "such", "file.yaml"), /it cannot be read/],
    ["no object", [], /it is \[\]/],
    ["no OpenAPI", { info: {} }, /neither openapi: 3 nor swagger: 2\.0/],
    ["of another version", { openapi: "4.0.0" }, /but "4\.0\.0"/],
  ])("that is %s is refused", async (_what, document, message) => {
    await expect(connected({ document })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(message) as string,
    });
  });

  it("that is neither JSON nor YAML, too long, or not there is refused", async () => {
    const broken = join(folder, "broken.json");
    await writeFile(broken, '{"openapi": ');
    await expect(connected({ document: broken })).rejects.toThrow(/neither JSON nor YAML/);
    await expect(connected({ document: broken, maxDocumentBytes: 5 })).rejects.toThrow(/it has 12 bytes/);
    const circle: Record<string, unknown> = { openapi: "3.1.0" };
    circle["self"] = circle;
    await expect(connected({ document: circle })).rejects.toThrow(/cannot be written as JSON/);
    const server = await startEcho((_request, response) => response.writeHead(404).end());
    await expect(connected({ document: server.url })).rejects.toThrow(/the server answered HTTP 404/);
    await server.close();
  });
});

describe("an operation", () => {
  it("is a tool with what the document says of it", async () => {
    const operation = {
      operationId: "pets/update-one",
      summary: "Update a pet",
      description: "Changes what is known of a pet.",
      tags: ["pets"],
      deprecated: true,
      parameters: [
        { name: "dryRun", in: "query", description: "Only check.", schema: { type: "boolean", default: false } },
      ],
      ...jsonBody({ $ref: "#/components/schemas/Pet" }),
      responses: { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } } } },
    };
    const Pet = {
      type: "object",
      required: ["name", "id"],
      properties: {
        id: { type: "integer", readOnly: true },
        name: { type: "string" },
        mother: { $ref: "#/components/schemas/Pet" },
      },
    };
    const [tool] = await tools(
      documentOf({ "/it/{id}": { post: operation } }, { components: { schemas: { Pet, Other: {} } } }),
    );
    expect(tool).toMatchObject({
      id: "test.pets_update_one",
      sourceName: "pets/update-one",
      title: "Update a pet",
      description: "Update a pet.\n\nChanges what is known of a pet.",
      tags: ["pets"],
      deprecated: true,
      capabilities: ["write_data", "external_api", "network_access"],
      annotations: { readOnly: false, idempotent: false, confirmed: false },
    });
    expect(tool?.parameters).toEqual({
      type: "object",
      properties: {
        id: { type: "string" },
        dryRun: { type: "boolean", description: "Only check. Default: false." },
        name: { type: "string" },
        mother: { $ref: "#/$defs/Pet" },
      },
      required: ["id", "name"],
      additionalProperties: false,
      $defs: {
        Pet: {
          type: "object",
          properties: { name: { type: "string" }, mother: { $ref: "#/$defs/Pet" } },
          required: ["name"],
        },
      },
    });
    expect(tool?.returns).toEqual({
      type: "object",
      properties: { id: { type: "integer" }, name: { type: "string" }, mother: { $ref: "#/$defs/Pet" } },
      $defs: {
        Pet: {
          type: "object",
          properties: { id: { type: "integer" }, name: { type: "string" }, mother: { $ref: "#/$defs/Pet" } },
        },
      },
    });
    expect(tool?.sourceMeta["openapi"]).toEqual({
      method: "POST",
      path: "/it/{id}",
      operationId: "pets/update-one",
      arguments: {
        id: { in: "path", name: "id" },
        dryRun: { in: "query", name: "dryRun" },
        name: { in: "body", name: "name" },
        mother: { in: "body", name: "mother" },
      },
      contentType: "application/json",
    });
  });

  it("is named by its operationId, or by method and path, and never like another", async () => {
    const paths = {
      "/pets/{petId}": { get: {}, delete: { operationId: "same" }, head: { operationId: "same" } },
      "/a": { get: { operationId: "a/b" }, put: { operationId: "a-b" }, query: {} },
    };
    const named = await tools(documentOf(paths));
    expect(named.map(({ name, sourceName }) => [name, sourceName])).toEqual([
      ["same", "same"],
      ["get_pets_pet_id", "GET /pets/{petId}"],
      ["head_pets_pet_id", "HEAD /pets/{petId}"],
      [expect.stringMatching(/^a_b_[0-9a-f]{8}$/), "a/b"],
      ["a_b", "a-b"],
      ["query_a", "QUERY /a"],
    ]);
  });

  it.each([
    ["get", ["read_data", "external_api", "network_access"], { readOnly: true, destructive: false, idempotent: true }],
    ["head", ["read_data", "external_api", "network_access"], { readOnly: true, destructive: false, idempotent: true }],
    ["put", ["write_data", "external_api", "network_access"], { readOnly: false, idempotent: true }],
    ["patch", ["write_data", "external_api", "network_access"], { readOnly: false, idempotent: false }],
    [
      "delete",
      ["delete_data", "external_api", "network_access"],
      { readOnly: false, destructive: true, idempotent: true },
    ],
  ])(
    "by %s can touch what its method says, confirmed only by the operator",
    async (method, capabilities, annotations) => {
      const document = documentOf({ "/it": { [method]: {} } });
      const [tool] = await tools(document);
      expect(tool).toMatchObject({ capabilities, annotations: { ...annotations, openWorld: true, confirmed: false } });
      const [trusted] = await tools(document, { trustMethods: true });
      expect(trusted?.annotations).toEqual({ ...annotations, openWorld: true, confirmed: true });
    },
  );

  it("has the parameters of its path, its own before them", async () => {
    const shared = [
      { name: "a", in: "query", schema: { type: "string" } },
      { name: "b", in: "query", schema: { type: "string" } },
    ];
    const own = [{ name: "b", in: "query", required: true, schema: { type: "integer" } }];
    const [draft] = await drafts(documentOf({ "/it": { parameters: shared, get: { parameters: own } } }));
    expect(draft?.parameters).toMatchObject({
      properties: { a: { type: "string" }, b: { type: "integer" } },
      required: ["b"],
    });
  });

  it("has arguments that every model can name", async () => {
    const names = ["filter[name]", "$top", "top", "ünï", "*"];
    const parameters = names.map((name) => ({ name, in: "query", schema: {} }));
    const [draft] = await drafts(documentOf({ "/it": { get: { parameters } } }));
    expect(Object.keys(draft?.parameters?.properties ?? {})).toEqual([
      "filter_name",
      "top_query",
      "top",
      "n",
      "argument",
    ]);
  });

  it("has one argument for a body that is no object, or not one object", async () => {
    const variants = {
      oneOf: [
        { type: "object", properties: { a: {} } },
        { type: "object", properties: { b: {} } },
      ],
    };
    for (const schema of [{ type: "array", items: { type: "string" } }, { type: "object" }, variants]) {
      const draft = await draftOf(jsonBody(schema));
      expect(Object.keys(draft.parameters?.properties ?? {})).toEqual(["id", "body"]);
      expect(draft.parameters?.required).toEqual(["id", "body"]);
    }
  });

  it("has the members of all parts of a body side by side, and the choices between them", async () => {
    const schema = {
      allOf: [{ $ref: "#/components/schemas/Base" }, { type: "object", properties: { id: {}, b: {} } }],
      required: ["a"],
      anyOf: [{ required: ["id"] }, { required: ["b"] }],
    };
    const Base = { type: "object", properties: { a: { type: "string" } } };
    const draft = await draftOf(jsonBody(schema), { components: { schemas: { Base } } });
    expect(draft.parameters).toEqual({
      type: "object",
      properties: { id: { type: "string" }, a: { type: "string" }, id_body: {}, b: {} },
      required: ["id", "a"],
      anyOf: [{ required: ["id_body"] }, { required: ["b"] }],
      additionalProperties: false,
    });
  });

  it("asks for files as text or base64, and for paths only where a folder is open", async () => {
    const schema = {
      type: "object",
      properties: { file: { type: "string", format: "binary", description: "The picture." } },
    };
    const operation = { requestBody: { content: { "multipart/form-data": { schema } } } };
    const keysOf = ({ parameters }: SourceDraft): readonly string[] => {
      const file = parameters?.properties?.["file"];
      return Object.keys((typeof file === "object" && file.properties) || {});
    };
    expect(keysOf(await draftOf(operation))).toEqual(["text", "base64", "filename", "contentType"]);
    const withPaths = await draftOf(operation, {}, { filesFrom: folder });
    expect([keysOf(withPaths), withPaths.capabilities]).toEqual([
      ["text", "base64", "path", "filename", "contentType"],
      ["write_data", "external_api", "network_access", "file_system"],
    ]);
  });

  it("of Swagger 2 has its body and its form as arguments", async () => {
    const form = [
      { name: "file", in: "formData", type: "file", required: true },
      { name: "note", in: "formData", type: "string" },
    ];
    const paths = {
      "/upload": { post: { consumes: ["multipart/form-data"], parameters: form } },
      "/pets": {
        post: { parameters: [{ name: "pet", in: "body", required: true, schema: { $ref: "#/definitions/Pet" } }] },
      },
      "/shared": {
        post: {
          parameters: [{ $ref: "#/parameters/note" }, { $ref: "#/parameters/size" }, { $ref: "#/parameters/limit" }],
        },
      },
    };
    const document = {
      swagger: "2.0",
      consumes: ["application/x-www-form-urlencoded"],
      definitions: {
        Pet: { type: "object", required: ["name"], properties: { name: { type: "string", "x-nullable": true } } },
      },
      parameters: {
        note: { name: "note", in: "formData", type: "string", required: true },
        size: { name: "size", in: "formData", type: "integer" },
        limit: { name: "limit", in: "query", type: "integer" },
      },
      paths: { ...paths, "/pets": { post: { ...paths["/pets"].post, consumes: ["application/json"] } } },
    };
    const read = await drafts(document);
    expect(
      read.map(({ parameters, sourceMeta }) => [
        Object.keys(parameters?.properties ?? {}),
        parameters?.required,
        sourceMeta?.["openapi"],
      ]),
    ).toEqual([
      [["file", "note"], ["file"], expect.objectContaining({ contentType: "multipart/form-data" })],
      [["name"], ["name"], expect.objectContaining({ contentType: "application/json" })],
      [
        ["limit", "note", "size"],
        ["note"],
        expect.objectContaining({ contentType: "application/x-www-form-urlencoded" }),
      ],
    ]);
    expect(read[1]?.parameters?.properties?.["name"]).toEqual({ type: ["string", "null"] });
  });
});
