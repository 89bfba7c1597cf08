import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Memory freed by one collection, such as that of a kernel, may in turn free more. */
const COLLECTIONS = 3;

/** Bytes in use after garbage collection: otherwise the figure depends on when the collector ran. */
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
