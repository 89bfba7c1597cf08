import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { scriptsSource } from "toolarsenal/sources";
import { ToolArsenal } from "toolarsenal";

// The same tool, declared in four languages: the listings of the seed document, with bodies.
const PROGRAMS = { typescript: "node", javascript: "node", python: "python3", bash: "bash" };
const languages = Object.entries(PROGRAMS).flatMap(([language, program]) => {
  if (spawnSync(program, ["--version"]).status === 0) return [language];
  console.log(`Skipped: ${language}, because ${program} is not installed.`);
  return [];
});

const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
for (const name of languages) {
  const folder = fileURLToPath(new URL(`tools-from-files/${name}`, import.meta.url));
  const source = scriptsSource({ name, paths: [folder] });
  await arsenal.add(source);
  assert.deepEqual(source.problems, []);
}

for (const language of languages) {
  const tool = await arsenal.getTool("search_web", language);
  assert.deepEqual(tool?.parameters, {
    type: "object",
    properties: {
      query: { type: "string", description: "The search query" },
      num_results: { type: "integer", description: "Number of results", default: 10 },
    },
    required: ["query"],
    additionalProperties: false,
  });
  const { result } = await arsenal.execute({ toolName: `${language}.search_web`, arguments: { query: "owls" } });
  assert.deepEqual(result, { query: "owls", num_results: 10, first: "A page about owls" });
}
console.log("Every language declares the same schema and gives the same result."); // prints: Every language declares the same schema and gives the same result.

await arsenal.close();
