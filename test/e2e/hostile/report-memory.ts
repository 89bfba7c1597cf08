import { renameSync, writeFileSync } from "node:fs";

/** Loaded into a gateway with `--import …?file=F`: at SIGUSR2 it collects garbage and writes to F how many bytes are still in use. */
const file = new URL(import.meta.url).searchParams.get("file") ?? "";

process.on("SIGUSR2", () => {
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.tmp`, String(heapUsed + external));
  renameSync(`${file}.tmp`, file);
});
