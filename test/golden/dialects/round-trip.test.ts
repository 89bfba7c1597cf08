import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SourceDraft } from "../../../src/tool/draft.ts";
import { isPlainObject } from "../../../src/tool/json-schema.ts";
import { normaliseTool } from "../../../src/tool/normalise/normalise-tool.ts";
import type { Tool } from "../../../src/tool/tool.ts";
import { CASES, some } from "../../kit/effort.ts";
import { EVERY_DIALECT } from "./every-dialect.ts";

/** Real tools, which are too many to be part of the project. */
const CORPORA =
  process.env["TOOLARSENAL_CORPORA"] ?? fileURLToPath(new URL("../../../../shared/corpora", import.meta.url));

function toTool(draft: SourceDraft): Tool {
  return normaliseTool(draft, { source: "mcp", namespace: "corpus", createdAt: 0 });
}

/** Checks every dialect on one tool: the way back gives the same tool, and the definition reads as one of its own. */
function checkRoundTrip(tool: Tool, strict: boolean): void {
  expect(normaliseTool(tool, tool).contentHash).toBe(tool.contentHash);
  for (const [name, dialect] of EVERY_DIALECT) {
    const { definition, losses } = dialect.convert(tool, { strict });
    const sent: unknown = JSON.parse(JSON.stringify(definition));
    for (const back of [dialect.toCanonical(definition), dialect.toCanonical(sent, { original: tool })])
      if (back !== tool) expect({ name, back }).toEqual({ name, back: tool });
    if (!isPlainObject(dialect.toCanonical(sent).parameters)) expect.fail(`${name} lost the parameters of ${tool.id}`);
    if (losses.some(({ message }) => message === "")) expect.fail(`${name} does not say what it did to ${tool.id}`);
  }
}

describe("round trip", () => {
  it(`gives back each of ${CASES} generated tools, exactly, in every dialect [003-adapter-both-ways]`, () => {
    fc.assert(fc.property(draft, fc.boolean(), (given, strict) => checkRoundTrip(toTool(given), strict)));
  });

  const present = existsSync(CORPORA);
  if (!present) process.stderr.write("not run: real tools. Set TOOLARSENAL_CORPORA to a folder of them.\n");

  // because the corpora are not part of the project
  it.skipIf(!present)("gives back every tool of the corpora, exactly, in every dialect", { timeout: 600_000 }, () => {
    let count = 0;
    for (const given of some([...corpus()], 2_000)) {
      checkRoundTrip(toTool(given), ++count % 2 === 0);
    }
    process.stderr.write(`${count} real tools went through ${EVERY_DIALECT.length} dialects and back.\n`);
    expect(count).toBeGreaterThan(100);
  });
});

/** Tools as `tools/list` has them, one file a server; and lines of id, name, namespace, description, parameters. */
function* corpus(): Generator<SourceDraft> {
  for (const file of readdirSync(CORPORA, { recursive: true, encoding: "utf8" }).sort()) {
    if (file.endsWith(".json") && file.startsWith("mcp-servers")) {
      const { tools } = JSON.parse(readFileSync(join(CORPORA, file), "utf8")) as {
        readonly tools: readonly Readonly<Record<string, unknown>>[];
      };
      for (const { inputSchema, outputSchema, ...rest } of tools)
        yield { ...rest, parameters: inputSchema ?? null, returns: outputSchema ?? null } as SourceDraft;
    } else if (file.endsWith(".jsonl")) {
      for (const line of readFileSync(join(CORPORA, file), "utf8").split("\n"))
        if (line !== "") yield JSON.parse(line) as SourceDraft;
    }
  }
}

const word = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/);
const leaf = fc.oneof(
  fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null") }),
  fc.record({ type: fc.constant("string"), format: fc.constantFrom("date", "email", "uuid", "made-up") }),
  fc.record({ type: fc.constant("string"), pattern: fc.constantFrom("^a+$", "[0-9]{2}", "(") }),
  fc.record({ type: fc.constant("string"), minLength: fc.nat(5), maxLength: fc.nat(50) }),
  fc.record({ type: fc.constant("integer"), minimum: fc.integer(), default: fc.integer() }),
  fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)), { maxLength: 6 }) }),
  fc.record({ const: fc.jsonValue({ maxDepth: 1 }) }),
  fc.record({ type: fc.constant(["string", "null"]), description: fc.string() }),
  fc.record({ type: fc.constant("string"), nullable: fc.boolean() }),
  fc.constant({ $ref: "#/$defs/shared" }),
  fc.constant({ $ref: "#" }),
  fc.constant({ $ref: "#/$defs/nowhere" }),
  fc.boolean(),
  fc.constant({}),
  fc.jsonValue({ maxDepth: 2 }),
);

const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(word, tie("schema"), { maxKeys: 4 }),
      required: fc.array(word, { maxLength: 2 }),
    }),
    fc.record({ type: fc.constant("object"), additionalProperties: tie("schema") }),
    fc.record({
      type: fc.constant("object"),
      patternProperties: fc.dictionary(fc.constantFrom("^x", "y$"), tie("schema")),
    }),
    fc.record({ type: fc.constant("array"), items: tie("schema"), uniqueItems: fc.boolean(), maxItems: fc.nat(9) }),
    fc.record({ type: fc.constant("array"), prefixItems: fc.array(tie("schema"), { maxLength: 3 }) }),
    fc.record({ anyOf: fc.array(tie("schema"), { maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("schema"), { maxLength: 3 }), title: fc.string() }),
    fc.record({ allOf: fc.array(tie("schema"), { maxLength: 3 }) }),
    fc.record({ not: tie("schema") }),
    fc.record(Object.fromEntries(["if", "then", "else"].map((keyword) => [keyword, tie("schema")]))),
  ),
}));

const draft = fc.record({
  name: word,
  description: fc.string({ maxLength: 60 }),
  parameters: fc.record(
    {
      type: fc.constant("object"),
      properties: fc.dictionary(fc.oneof(word, fc.string({ maxLength: 6 })), schema, { maxKeys: 5 }),
      required: fc.array(word, { maxLength: 3 }),
      additionalProperties: fc.oneof(fc.boolean(), schema),
      $defs: fc.record({ shared: schema }),
      anyOf: fc.array(schema, { maxLength: 2 }),
    },
    { requiredKeys: ["type", "properties"] },
  ),
}) as fc.Arbitrary<SourceDraft>;
