import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { JsonSchema } from "../tool/json-schema.ts";
import { describeExpected, listSettings, type Setting } from "./load/setting.ts";

const PAGE = new URL("../../docs/configuration.md", import.meta.url);
const MARKS = /(<!-- settings -->\n)[\s\S]*(\n<!-- \/settings -->)/;

/** Every key with what it takes, its default and what it is for: a table a section. */
function reference(): string {
  const sections = Map.groupBy(listSettings(), ({ path }) => path.split(/[.[]/)[0] ?? path);
  const single = [...sections].filter(([, settings]) => settings.length === 1).flatMap(([, settings]) => settings);
  const tables = [...sections]
    .filter(([, settings]) => settings.length > 1)
    .map(
      ([name, [section, ...settings]]) => `### ${name}\n\n${section?.schema.description ?? ""}\n\n${table(settings)}`,
    );
  return [...tables, `### Keys of their own\n\n${table(single)}`].join("\n\n");
}

function table(settings: readonly Setting[]): string {
  const rows = settings.map(({ path, schema }) =>
    ["", `\`${path}\``, takes(schema), fallback(schema), schema.description ?? "", ""].join(" | ").trim(),
  );
  return ["| key | takes | default | |", "|---|---|---|---|", ...rows].join("\n");
}

function takes(schema: JsonSchema): string {
  return schema.enum ? schema.enum.map((value) => `\`${String(value)}\``).join(", ") : describeExpected(schema);
}

function fallback({ default: value, properties }: JsonSchema): string {
  return value === undefined || properties ? "" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

it("docs/configuration.md lists every key as the program takes it", () => {
  if (process.env["WRITE_DOCS"] === "1") {
    const text = readFileSync(PAGE, "utf8").replace(
      MARKS,
      (_, start: string, end: string) => start + reference() + end,
    );
    writeFileSync(PAGE, text);
  }
  const [, shown] = /<!-- settings -->\n([\s\S]*)\n<!-- \/settings -->/.exec(readFileSync(PAGE, "utf8")) ?? [];
  expect(shown, "Run: WRITE_DOCS=1 npx vitest run src/config/configuration-page.test.ts").toBe(reference());
});
