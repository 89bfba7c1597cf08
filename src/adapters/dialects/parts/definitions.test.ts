import { describe, expect, it } from "vitest";
import { refundUser } from "../../../../test/golden/dialects/answered-calls.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import { OLLAMA_TARGET } from "../ollama.ts";
import { definitions, type ObjectSchema } from "./definitions.ts";

const sample = definitions<{ readonly id: string; readonly schema: ObjectSchema }>({
  name: "sample",
  target: OLLAMA_TARGET,
  looksLike: '{"id": …}',
  write: ({ name, schema }) => ({ id: name, schema }),
  read: ({ id, schema }) => (typeof id === "string" ? { name: id, parameters: schema } : undefined),
});

describe("definitions", () => {
  it("converts a schema once, however often it is written, and lets nobody change it", () => {
    const tool = refundUser();
    const [first, second] = [sample.fromCanonical(tool), sample.fromCanonical(tool)];
    expect(first).not.toBe(second);
    expect(first.schema).toBe(second.schema);
    expect(() => {
      first.schema.required?.push("more");
    }).toThrow(TypeError);
  });

  it("says which parts of a tool have no place in a definition", () => {
    const tool = defineTool({
      name: "look",
      description: "Looks at the world outside.",
      extendedDescription: "For as long as it takes.",
      parameters: { type: "object" },
      returns: { type: "string" },
      annotations: { readOnly: true },
    });
    expect(sample.convert(tool).losses).toEqual(
      ["extendedDescription", "returns", "annotations"].map((keyword) => ({
        path: "",
        keyword,
        action: "dropped",
        message: `a definition of sample has no place for ${keyword}`,
      })),
    );
    expect(sample.convert(refundUser()).losses).toEqual([]);
  });

  it("says what a definition looks like to who gave none", () => {
    expect(() => sample.toCanonical({ name: "x" })).toThrow(
      '{"name":"x"} is not a tool definition of sample. Give an object like {"id": …}.',
    );
  });

  it("keeps what somebody else wrote, whole", () => {
    const definition = { id: "look", schema: { type: "object" }, extra: [1] };
    expect(sample.toCanonical(definition)).toEqual({
      name: "look",
      sourceName: "look",
      description: null,
      parameters: { type: "object" },
      sourceMeta: { dialect: "sample", definition },
    });
  });
});
