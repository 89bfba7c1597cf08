import { configureGlobal } from "fast-check";
import { CASES, SEED } from "./kit/effort.ts";

/** Every run tries other cases. A property that fails prints its seed, and `TOOLARSENAL_SEED=…` repeats a whole run. */
configureGlobal({ seed: SEED, numRuns: CASES });
