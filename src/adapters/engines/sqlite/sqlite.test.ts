import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { catalogEngineContract } from "../../../testing/catalog-engine.contract.ts";
import { sqliteEngine } from "./sqlite.ts";

const root = mkdtempSync(join(tmpdir(), "arsenal-engine-"));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
const newFile = (): string => join(root, String(++files), "catalog.sqlite");

describe("sqliteEngine on a file, as a catalog engine", () => {
  let file = "";
  const cases = catalogEngineContract(
    () => {
      file = newFile();
      const adapter = sqliteEngine({ file });
      return { adapter, dispose: () => adapter.close() };
    },
    { another: () => sqliteEngine({ file }) },
  );
  for (const { name, run } of cases) it(name, run);
});

describe("sqliteEngine in memory, as a catalog engine", () => {
  const cases = catalogEngineContract(() => {
    const adapter = sqliteEngine({ file: ":memory:" });
    return { adapter, dispose: () => adapter.close() };
  });
  for (const { name, run } of cases) it(name, run);
});
