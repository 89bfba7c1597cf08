/**
 * Loaded into a gateway with `--import`: measures the longest turn of its event loop in CPU time of the main thread, so that a busy machine
 * does not count. At SIGUSR2 it writes that turn, the memory that is held after a collection (with `--expose-gc`) and its count of signals into
 * the file that its address names, and begins anew.
 */
import { renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = new URL(import.meta.url).searchParams.get("file") ?? "";

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

let longestMs = 0;
let signals = 0;
let since = cpuMs();

function count(): void {
  const now = cpuMs();
  longestMs = Math.max(longestMs, now - since);
  since = now;
}

/** Runs once in each turn. It is unreferenced, so the loop still sleeps when there is nothing to do. */
function watch(): void {
  count();
  setImmediate(watch).unref();
}

function tell(): void {
  // Work in an immediate that came after this turn's watch is not counted yet.
  count();
  signals += 1;
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.new`, JSON.stringify({ signals, longestMs, heldBytes: heapUsed + external }));
  renameSync(`${file}.new`, file);
  longestMs = 0;
  since = cpuMs();
}

if (isMainThread) {
  process.on("SIGUSR2", tell);
  setImmediate(watch).unref();
}
