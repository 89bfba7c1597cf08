/**
 * One of several processes that share a catalog: `node catalog-replica.ts CONFIGURATION TOOLS`. It says "ready", waits for a line, registers its tools and
 * prints, as JSON, how many it indexed and which texts it embedded.
 */
import { internalsOf } from "../../src/arsenal.ts";
import { once } from "node:events";
import { ToolArsenal, type ToolArsenalConfig } from "../../src/index.ts";
import { createHashingEmbedder } from "../../src/testing/hashing-embedder.ts";

const [given = "", count = ""] = process.argv.slice(2);
const embedded: string[] = [];
const embedder = createHashingEmbedder({ dimension: 16, onEmbed: (texts) => void embedded.push(...texts) });
const arsenal = new ToolArsenal({ ...(JSON.parse(given) as ToolArsenalConfig), embedder });
await arsenal.listTools();
process.stdout.write("ready\n");
await once(process.stdin, "data");
const drafts = Array.from({ length: Number(count) }, (_, index) => ({
  name: `tool_${index}`,
  description: `Does thing number ${index} for somebody.`,
}));
let indexed = 0;
const BATCH = drafts.length / 20;
// In batches, so that the processes get in each other's way again and again.
for (let start = 0; start < drafts.length; start += BATCH) {
  await arsenal.add(drafts.slice(start, start + BATCH).map((tool) => ({ tool, handler: () => "done" })));
  indexed += await arsenal.sync();
}
await internalsOf(arsenal).settled();
process.stdout.write(`${JSON.stringify({ indexed, embedded, count: arsenal.toolCount })}\n`);
await arsenal.close();
process.stdin.destroy();
