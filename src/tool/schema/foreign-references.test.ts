import { describe, expect, it } from "vitest";
import { withoutForeignReferences } from "./foreign-references.ts";

const $comment = "A reference to a schema outside this definition was removed.";

describe("references that lead out of a schema", () => {
  it.each([
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data",
    "https://evil.example/schema.json#/x",
    "other.json",
    "//evil.example/x",
    "FILE:///etc/passwd",
    "",
  ])("are removed, and what stands beside them stays: %j", ($ref) => {
    const schema = { type: "object", properties: { a: { $ref, description: "Any." }, b: { type: "string" } } };
    expect(withoutForeignReferences(schema)).toEqual({
      type: "object",
      properties: { a: { $comment, description: "Any." }, b: { type: "string" } },
    });
  });

  it("are removed wherever they stand, and under each of their names", () => {
    const away = "https://evil.example/x";
    expect(
      withoutForeignReferences({
        $ref: away,
        $defs: { a: { $dynamicRef: away } },
        items: [{ anyOf: [{ $recursiveRef: away }] }],
        default: { $ref: away },
        enum: [{ $ref: away }],
        properties: { $ref: { type: "string" }, b: { $ref: away, $comment: "Mine." } },
      }),
    ).toEqual({
      $comment,
      $defs: { a: { $comment } },
      items: [{ anyOf: [{ $comment }] }],
      default: { $comment },
      enum: [{ $comment }],
      properties: { $ref: { type: "string" }, b: { $comment: "Mine." } },
    });
  });

  it("are told from those that stay inside, which leave the schema as it is", () => {
    const schema = {
      $id: "https://good.example/root.json",
      $defs: { a: { $id: "inner.json", type: "string" } },
      properties: {
        a: { $ref: "#/$defs/a" },
        b: { $ref: "#" },
        c: { $ref: "#anchor" },
        d: { $dynamicRef: "#node" },
      },
    };
    expect(withoutForeignReferences(schema)).toBe(schema);
  });

  it("do not include those to a schema inside that has that id", () => {
    const schema = {
      $defs: { a: { $id: "https://good.example/a", type: "string" } },
      properties: { a: { $ref: "https://good.example/a" }, b: { $ref: "https://good.example/a#/x" } },
    };
    expect(withoutForeignReferences(schema)).toEqual(schema);
  });

  it.each([true, undefined, null, "text", 5])("are not looked for in %j", (schema) => {
    expect(withoutForeignReferences(schema)).toBe(schema);
  });

  it("cannot hide in depths", () => {
    let schema: object = { $ref: "file:///etc/passwd" };
    for (let depth = 0; depth < 500; depth++) schema = { not: schema };
    expect(JSON.stringify(withoutForeignReferences(schema))).not.toContain("passwd");
  });
});
