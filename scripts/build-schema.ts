import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { fileSchema } from "../src/config/load/key-style.ts";

const FILE = new URL("../config.schema.json", import.meta.url);

/** The JSON Schema of a configuration file, as `config.schema.json` holds it for editors. */
export function schemaText(): string {
  return `${JSON.stringify(fileSchema(), null, 2)}\n`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main();

function main(): void {
  const { values } = parseArgs({ options: { check: { type: "boolean" }, help: { type: "boolean" } } });
  if (values.help === true) {
    console.log(
      "node scripts/build-schema.ts [--check]\n\nWrites config.schema.json, or says whether it is up to date.",
    );
  } else if (values.check === true) {
    if (readFileSync(FILE, "utf8") === schemaText()) return;
    console.error("config.schema.json is out of date. Run: node scripts/build-schema.ts");
    process.exitCode = 1;
  } else {
    writeFileSync(FILE, schemaText());
  }
}
