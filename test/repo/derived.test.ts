import { describe, expect, it } from "vitest";
import { derivedFiles } from "../../scripts/derive.ts";
import { read } from "./project.ts";

describe("what follows from the adapters' manifests", () => {
  it.each(Object.entries(derivedFiles()))("%s is up to date [000-9.1-editor-schema]", (path, text) => {
    expect(read(path), "Run: npm run derive").toBe(text);
  });
});
