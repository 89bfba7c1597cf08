import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What one collection frees, such as the memory of a kernel, may hold on to more. */
const COLLECTIONS = 3;

/** Bytes in use once garbage is gone: without collecting first, growth is whatever the collector happened to do meanwhile. */
export async function memoryUsed(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let time = 0; time < COLLECTIONS; time++) {
    collect();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
