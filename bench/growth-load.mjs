/**
 * The cost of loading the tuned model, for `bench/growth.ts`: `node bench/growth-load.mjs MODULE`. Prints JSON.
 * Plain JavaScript, because a process that strips types holds 30 MB more than one that runs the built package.
 */
const [module = ""] = process.argv.slice(2);
const { tunedEmbedder } = await import(module);
const residentBefore = process.memoryUsage.rss();
const started = performance.now();
const embedder = tunedEmbedder();
await embedder.healthCheck();
const loadMs = performance.now() - started;
// The longest text of a tool or a request: the kernel's memory grows with it.
await embedder.embed(["word ".repeat(400)], { kind: "query" });
const residentBytes = process.memoryUsage.rss();
await embedder.close();
process.stdout.write(`${JSON.stringify({ loadMs, residentBytes, residentBefore })}\n`);
