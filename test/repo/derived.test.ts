import { describe, expect, it } from "vitest";
import { DERIVED } from "../../scripts/derive.ts";
import { read } from "./project.ts";

describe("what follows from the adapters' manifests", () => {
  it.each(Object.entries(DERIVED))("%s is up to date [000-9.1-editor-schema]", async (path, derive) => {
    expect(read(path), "Run: npm run derive").toBe(await derive());
  });
});
