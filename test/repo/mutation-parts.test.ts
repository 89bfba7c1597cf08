import { globSync } from "node:fs";
import { matchesGlob } from "node:path";
import { expect, it } from "vitest";
import { PARTS } from "../mutation/parts.ts";

const sources = globSync("src/guard/**/*.ts").filter((path) => !/\.(?:test|port)\.ts$/.test(path));

it.each(sources)("mutation testing has %s in one part", (path) => {
  const parts = PARTS.filter(({ mutate }) => mutate.some((pattern) => matchesGlob(path, pattern)));
  expect(parts).toHaveLength(1);
});

it.each(PARTS)("mutation testing has tests for $name", ({ tests }) => {
  for (const pattern of tests) expect(globSync(pattern)).not.toEqual([]);
});
