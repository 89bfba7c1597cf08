import type { Worker } from "node:worker_threads";
import type { Check, Validator } from "../../../execute/validator.port.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { measureSchema } from "../../../tool/schema/schema-limits.ts";
import { startWorker } from "../../../system/start-worker.ts";
import { type CheckThread, createCheckThread } from "./check-thread.ts";
import { compileSchema } from "./compile-schema.ts";
import { TooCostly } from "./evaluate.ts";
import { unusableSchema } from "./problems.ts";

export interface JsonSchemaValidatorOptions {
  /** The time limit of one large schema or one large set of arguments, in milliseconds. Defaults to 2,000. */
  readonly timeLimitMs?: number;
  readonly clock?: Clock;
}

/** Up to this size, a schema is parsed in a few milliseconds. */
const SMALL = { values: 5_000, characters: 200_000 };

/** After this many steps, which take a few milliseconds, a check moves to the thread. */
const MAX_STEPS_HERE = 20_000;

/**
 * The default validator. Runs small checks synchronously. Large schemas, long checks and patterns that RE2 cannot run go to a thread with a time
 * limit.
 */
export function jsonSchemaValidator({
  timeLimitMs = 2_000,
  clock = systemClock,
}: JsonSchemaValidatorOptions = {}): Validator {
  let thread: CheckThread | undefined;
  const theThread = (): CheckThread => (thread ??= createCheckThread({ start, clock, timeLimitMs }));

  return {
    compile(schema, { trusted = false } = {}) {
      const { tooLarge, values, characters } = measureSchema(schema);
      if (tooLarge !== undefined) throw unusableSchema(`it ${tooLarge}`);
      let text: string | undefined;
      const checkElsewhere: Check = (value) => theThread().check((text ??= JSON.stringify(schema)), value);
      if (values > SMALL.values || characters > SMALL.characters) {
        const compiled = theThread().compile((text = JSON.stringify(schema)));
        return compiled.then((notes) => Object.assign(checkElsewhere, { notes }));
      }
      const checkHere = compileSchema(schema, { trusted });
      const check: Check = (value) => {
        try {
          return checkHere(value, { maxSteps: MAX_STEPS_HERE, mayBacktrack: trusted });
        } catch (error) {
          if (error instanceof TooCostly) return checkElsewhere(value);
          throw error;
        }
      };
      return Object.assign(check, { notes: checkHere.notes });
    },
    async close() {
      await thread?.close();
    },
  };
}

function start(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: 256 };
  return startWorker("check-worker", import.meta.url, { name: "toolarsenal-check", resourceLimits });
}
