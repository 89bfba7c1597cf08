import type { ApiDescription } from "./check-api.ts";

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const listOf = (name: string) => ({ type: "array", items: reference(name) });
const object = (properties: object, more: object = {}) => ({ type: "object", ...more, properties });
const either = (...names: readonly string[]) => ({ anyOf: names.map(reference) });
const [text, flag] = [{ type: "string" }, { type: "boolean" }];
const uri = { type: "string", format: "uri" };
const time = { type: "string", format: "date-time" };
const address = { type: "string", pattern: "^(https?://[^\\s]+|\\{[a-zA-Z_][a-zA-Z0-9_]*\\}[^\\s]*)$" };
const statuses = { type: "string", enum: ["active", "deprecated", "deleted"] };
const named = { type: "object", additionalProperties: reference("Input") };
const argument = (type: string, properties: object, more: object) => ({
  allOf: [
    reference("InputWithVariables"),
    { ...object({ type: { type: "string", enum: [type] }, ...properties, isRepeated: flag }), ...more },
  ],
});
const transport = (type: string) =>
  object(
    { type: { type: "string", enum: [type] }, url: address, headers: listOf("KeyValueInput") },
    { required: ["type", "url"] },
  );
const answer = (schema: object) => ({ content: { "application/json": { schema } } });
const failure = answer(object({ error: text }));
const inPath = (name: string) => ({ name, in: "path", required: true, schema: text });
const inQuery = (name: string, schema: object = text) => ({ name, in: "query", required: false, schema });
const failures = (...codes: readonly number[]) => Object.fromEntries(codes.map((code) => [code, failure]));

/**
 * The facts of the MCP registry's API 0.1, as its OpenAPI document of 2025-12-01 has them: paths, parameters, answers and shapes, without any text.
 * `node test/conformance/run-registry.ts --document FILE` compares them with the document itself.
 */
export const REGISTRY_API: ApiDescription = {
  paths: {
    "/v0.1/servers": {
      get: {
        parameters: [
          inQuery("cursor"),
          inQuery("limit", { type: "integer" }),
          inQuery("search"),
          inQuery("updated_since", time),
          inQuery("version"),
          inQuery("include_deleted", flag),
        ],
        responses: { 200: answer(reference("ServerList")) },
      },
    },
    "/v0.1/servers/{serverName}/versions": {
      get: {
        parameters: [inPath("serverName"), inQuery("include_deleted", flag)],
        responses: { 200: answer(reference("ServerList")), ...failures(404) },
      },
    },
    "/v0.1/servers/{serverName}/versions/{version}": {
      get: {
        parameters: [inPath("serverName"), inPath("version"), inQuery("include_deleted", flag)],
        responses: { 200: answer(reference("ServerResponse")), ...failures(404) },
      },
      put: {
        parameters: [inPath("serverName"), inPath("version")],
        responses: { 200: answer(reference("ServerResponse")), ...failures(401, 403, 404, 500, 501) },
      },
      delete: {
        parameters: [inPath("serverName"), inPath("version")],
        responses: { 200: answer(reference("ServerResponse")), ...failures(401, 403, 404, 500, 501) },
      },
    },
    "/v0.1/servers/{serverName}/versions/{version}/status": {
      patch: {
        parameters: [inPath("serverName"), inPath("version")],
        responses: { 200: answer(reference("ServerResponse")), ...failures(400, 401, 403, 404) },
      },
    },
    "/v0.1/servers/{serverName}/status": {
      patch: {
        parameters: [inPath("serverName")],
        responses: { 200: answer(reference("AllVersionsStatusResponse")), ...failures(400, 401, 403, 404) },
      },
    },
    "/v0.1/publish": {
      post: {
        responses: { 200: answer(reference("ServerResponse")), ...failures(401, 403, 500, 501) },
      },
    },
  },
  components: {
    schemas: {
      Repository: object({ url: uri, source: text, id: text, subfolder: text }, { required: ["url", "source"] }),
      ServerList: object(
        { servers: listOf("ServerResponse"), metadata: object({ nextCursor: text, count: { type: "integer" } }) },
        { required: ["servers"] },
      ),
      Package: object(
        {
          registryType: text,
          registryBaseUrl: uri,
          identifier: text,
          version: { type: "string", minLength: 1, not: { const: "latest" } },
          fileSha256: { type: "string", pattern: "^[a-f0-9]{64}$" },
          runtimeHint: text,
          transport: reference("LocalTransport"),
          runtimeArguments: listOf("Argument"),
          packageArguments: listOf("Argument"),
          environmentVariables: listOf("KeyValueInput"),
        },
        { required: ["registryType", "identifier", "transport"] },
      ),
      Input: object({
        description: text,
        isRequired: flag,
        format: { type: "string", enum: ["string", "number", "boolean", "filepath"] },
        value: text,
        isSecret: flag,
        default: text,
        placeholder: text,
        choices: { type: "array", items: text },
      }),
      InputWithVariables: { allOf: [reference("Input"), object({ variables: named })] },
      PositionalArgument: argument(
        "positional",
        { valueHint: text },
        { required: ["type"], anyOf: [{ required: ["valueHint"] }, { required: ["value"] }] },
      ),
      NamedArgument: argument("named", { name: text }, { required: ["type", "name"] }),
      KeyValueInput: { allOf: [reference("InputWithVariables"), object({ name: text }, { required: ["name"] })] },
      Argument: either("PositionalArgument", "NamedArgument"),
      StdioTransport: object({ type: { type: "string", enum: ["stdio"] } }, { required: ["type"] }),
      StreamableHttpTransport: transport("streamable-http"),
      SseTransport: transport("sse"),
      LocalTransport: either("StdioTransport", "StreamableHttpTransport", "SseTransport"),
      RemoteTransport: { allOf: [either("StreamableHttpTransport", "SseTransport"), object({ variables: named })] },
      Icon: object(
        {
          src: { type: "string", format: "uri", maxLength: 255 },
          mimeType: {
            type: "string",
            enum: ["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"],
          },
          sizes: { type: "array", items: { type: "string", pattern: "^(\\d+x\\d+|any)$" } },
          theme: { type: "string", enum: ["light", "dark"] },
        },
        { required: ["src"] },
      ),
      ServerDetail: object(
        {
          name: { type: "string", minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" },
          description: { type: "string", minLength: 1, maxLength: 100 },
          title: { type: "string", minLength: 1, maxLength: 100 },
          repository: reference("Repository"),
          version: { type: "string", maxLength: 255 },
          websiteUrl: uri,
          icons: listOf("Icon"),
          $schema: uri,
          packages: listOf("Package"),
          remotes: listOf("RemoteTransport"),
          _meta: object({
            "io.modelcontextprotocol.registry/publisher-provided": { type: "object", additionalProperties: true },
          }),
        },
        { required: ["name", "description", "version"] },
      ),
      ServerResponse: object(
        {
          server: reference("ServerDetail"),
          _meta: object(
            {
              "io.modelcontextprotocol.registry/official": object(
                {
                  status: statuses,
                  statusMessage: { type: "string", maxLength: 500 },
                  statusChangedAt: time,
                  publishedAt: time,
                  updatedAt: time,
                  isLatest: flag,
                },
                { additionalProperties: false },
              ),
            },
            { additionalProperties: true },
          ),
        },
        { required: ["server"] },
      ),
      StatusUpdateRequest: object(
        { status: statuses, statusMessage: { type: "string", maxLength: 500 } },
        { required: ["status"] },
      ),
      AllVersionsStatusResponse: object(
        { updatedCount: { type: "integer" }, servers: listOf("ServerResponse") },
        { required: ["updatedCount", "servers"] },
      ),
    },
  },
};
