import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openapiSource } from "../../src/adapters/sources/openapi/openapi.ts";
import { compileSchema } from "../../src/adapters/validators/json-schema/compile-schema.ts";
import type { Egress, EgressRequest } from "../../src/guard/egress/egress.ts";
import { toRegistrations } from "../../src/register/to-registrations.ts";
import { isPlainObject, type JsonSchema } from "../../src/tool/json-schema.ts";
import { NAME_PATTERN } from "../../src/tool/limits.ts";
import { CORPORA, isPresent } from "./openapi-corpora.ts";

const { signal } = new AbortController();

describe.each(CORPORA)("the document of $name", (corpus) => {
  // because the documents are not in the repository.
  it.skipIf(!isPresent(corpus))(
    "gives a tool for each operation, each small, well named and callable",
    { timeout: 60_000 },
    async () => {
      const sent: { readonly url: string; readonly request: EgressRequest | undefined }[] = [];
      const egress: Egress = {
        async request(url, request) {
          sent.push({ url: String(url), request });
          return { status: 204, headers: {}, url: String(url), body: Readable.from([]) };
        },
        connect: () => expect.unreachable("An API is called by requests."),
        fork: () => egress,
        close() {},
      };
      const credentials = { basicAuth: { username: "x" }, bearerAuth: () => "x", BearerToken: () => "x" };
      const settings = { name: "api", document: corpus.file, server: "https://api.test", credentials };
      const source = openapiSource(settings, { egress });
      await source.connect({ signal });
      const offered = await source.list({ signal });
      const tools = (await toRegistrations(offered, source, { now: 0 })).map(({ tool }) => tool);

      const skipped = source.problems.filter((problem) => problem.skipped);
      for (const { operation, reason } of skipped) process.stderr.write(`${corpus.name}: ${operation}: ${reason}\n`);
      expect(tools.length + skipped.length).toBe(corpus.operations);
      expect(tools.length / corpus.operations).toBeGreaterThanOrEqual(0.995);
      expect(new Set(tools.map(({ id }) => id)).size).toBe(tools.length);
      expect(tools.filter(({ name }) => !NAME_PATTERN.test(name))).toEqual([]);
      const tooLarge = tools.filter((tool) => Buffer.byteLength(JSON.stringify(tool)) > 32_768);
      expect(tooLarge.map(({ id }) => id)).toEqual([]);

      const handlers = new Map(offered.map(({ draft, handler }) => [draft.sourceName, handler]));
      for (const tool of tools) {
        const args = least(tool.parameters, tool.parameters) as Record<string, unknown>;
        expect([tool.id, compileSchema(tool.parameters)(args)]).toEqual([tool.id, { valid: true, value: args }]);
        const context = {
          auxdata: {},
          tool,
          state: new Map(),
          signal,
          traceId: "",
          spanId: "",
          attempt: 1,
          progress() {},
        };
        await handlers.get(tool.sourceName)?.(args, context);
      }
      expect(sent.length).toBe(tools.length);
      // Every name in braces was filled in.
      expect(sent.filter(({ url }) => !/^https:\/\/api\.test\/[^{}]*$/.test(url))).toEqual([]);
    },
  );
});

/** The least that a schema takes: what is required, and of that the shortest. */
function least(schema: JsonSchema, root: JsonSchema): unknown {
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const $defs = root["$defs"] as Readonly<Record<string, JsonSchema>>;
    return least($defs[reference.slice("#/$defs/".length)] ?? {}, root);
  }
  const [variant] = [schema["anyOf"], schema["oneOf"], schema["allOf"]].flatMap(
    (each) => (each as readonly JsonSchema[]) ?? [],
  );
  if (schema.enum !== undefined) return schema.enum[0];
  if (variant !== undefined && schema.type !== "object") return least(variant, root);
  const { type, properties = {} } = schema;
  switch (Array.isArray(type) ? type[0] : type) {
    case "object": {
      // A variant may describe members of its own, or only demand those that are described here.
      const described = { ...properties, ...variant?.properties };
      const names = [...(schema.required ?? []), ...(variant?.required ?? [])];
      return Object.fromEntries(names.map((name) => [name, least(asSchema(described[name]), root)]));
    }
    case "array":
      return Array.from({ length: (schema["minItems"] as number | undefined) ?? 0 }, () =>
        least(asSchema(schema.items), root),
      );
    case "integer":
    case "number":
      return (schema["minimum"] as number | undefined) ?? 1;
    case "boolean":
      return true;
    default:
      return textFor(schema);
  }
}

function asSchema(value: unknown): JsonSchema {
  return isPlainObject(value) ? value : {};
}

function textFor(schema: JsonSchema): string {
  if (schema["format"] === "date-time") return "2026-01-01T00:00:00Z";
  if (schema["format"] === "date") return "2026-01-01";
  if (schema["format"] === "uri") return "https://x.test/";
  if (schema["pattern"] !== undefined) {
    const [text = ""] = fc.sample(fc.stringMatching(new RegExp(String(schema["pattern"]))), { numRuns: 1, seed: 1 });
    return text;
  }
  return "x".repeat((schema["minLength"] as number | undefined) ?? 1);
}
