import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { SCHEMA_FEATURES, type SchemaFeature } from "../../../src/transcode/features.ts";
import { EVERY_DIALECT } from "./every-dialect.ts";

const PAGE = fileURLToPath(new URL("../../../docs/guides/dialects.md", import.meta.url));
const MARKED = /(?<=<!-- features:[^\n]*-->\n)[\s\S]*(?=<!-- \/features -->)/;

/** Features by dialect, those that take the same in one column. */
function table(): string {
  const columns = new Map<string, { readonly names: string[]; takes(feature: SchemaFeature): boolean }>();
  for (const [name, dialect] of EVERY_DIALECT) {
    for (const strict of [false, true]) {
      const takes = (feature: SchemaFeature): boolean => dialect.supports(feature, { strict });
      const key = SCHEMA_FEATURES.map((feature) => (takes(feature) ? "1" : "0")).join("");
      const column = columns.get(key) ?? { names: [], takes };
      const isPlain = strict && SCHEMA_FEATURES.every((feature) => takes(feature) === dialect.supports(feature));
      if (!isPlain) column.names.push(strict ? `${name} strict` : name);
      if (column.names.length > 0) columns.set(key, column);
    }
  }
  const all = [...columns.values()];
  const rows = SCHEMA_FEATURES.map((feature) => [feature, ...all.map(({ takes }) => (takes(feature) ? "yes" : ""))]);
  const header = ["", ...all.map(({ names }) => names.join(", "))];
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

describe("docs/guides/dialects.md", () => {
  if (process.env["UPDATE_GOLDEN"] === "1")
    writeFileSync(PAGE, readFileSync(PAGE, "utf8").replace(MARKED, `\n${table()}\n`));

  it("shows what each dialect takes [003-adapter-features]", () => {
    expect(MARKED.exec(readFileSync(PAGE, "utf8"))?.[0].trim()).toBe(table().trim());
  });
});
