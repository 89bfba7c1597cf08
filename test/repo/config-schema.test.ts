import { expect, it } from "vitest";
import { schemaText } from "../../scripts/build-schema.ts";
import { read } from "./project.ts";

it("config.schema.json is what the program checks configuration files against [000-9.1-editor-schema]", () => {
  expect(read("config.schema.json"), "Run: node scripts/build-schema.ts").toBe(schemaText());
});
