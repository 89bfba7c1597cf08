import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Each collection may free objects that keep others alive, such as a kernel. */
const COLLECTIONS = 3;

/** Returns the bytes in use after garbage collection, so that the result does not depend on when the collector ran. */
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
