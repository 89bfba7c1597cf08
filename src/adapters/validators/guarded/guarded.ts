import { Worker } from "node:worker_threads";
import type { AnyCheck, Validator } from "../../../execute/validator.port.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { measureSchema } from "../../../tool/schema-limits.ts";
import { ajv } from "../ajv.ts";
import { type CountedCheck, interpret } from "../interpreter/interpreter.ts";
import { unusableSchema } from "../interpreter/problems.ts";
import { TooCostly } from "../interpreter/run.ts";
import { type CheckThread, createCheckThread } from "./check-thread.ts";

export interface GuardedOptions {
  /** Time one large schema or one large set of arguments may take to check, in milliseconds. Default 2,000. */
  readonly timeLimitMs?: number;
  readonly clock?: Clock;
}

/** Up to this many values Ajv takes a few milliseconds to make a program of a schema. */
const QUICK = 500;

/** Up to this size a schema is read in a few milliseconds. */
const SMALL = { values: 5_000, characters: 200_000 };

/** Steps before a check is handed to the thread: about ten milliseconds. */
const STEPS_AT_ONCE = 50_000;

/**
 * The default validator. What the program registered itself and is small goes to Ajv; everything else is read, not compiled, by the
 * interpreter: here where it is small, on a thread of its own with a time limit where the schema or the arguments are large.
 */
export function guarded({ timeLimitMs = 2_000, clock = systemClock }: GuardedOptions = {}): Validator {
  const programs = ajv();
  let thread: CheckThread | undefined;
  const theThread = (): CheckThread => (thread ??= createCheckThread({ start, clock, timeLimitMs }));

  return {
    compile(schema, { trusted = false } = {}) {
      const { tooLarge, values, characters } = measureSchema(schema);
      if (tooLarge !== undefined) throw unusableSchema(`it ${tooLarge}`);
      if (trusted && values <= QUICK) return programs.compile(schema);
      if (values <= SMALL.values && characters <= SMALL.characters) {
        return handingOver(interpret(schema), (value) => theThread().check(schema, value));
      }
      const check: AnyCheck = (value) => theThread().check(schema, value);
      return theThread()
        .compile(schema)
        .then((notes) => Object.assign(check, { notes }));
    },
    async close() {
      await thread?.close();
    },
  };
}

/** A check that is made at once, or elsewhere where it turns out to take long. */
function handingOver(check: CountedCheck, elsewhere: AnyCheck): AnyCheck {
  const first: AnyCheck = (value) => {
    try {
      return check(value, STEPS_AT_ONCE);
    } catch (error) {
      if (error instanceof TooCostly) return elsewhere(value);
      throw error;
    }
  };
  return Object.assign(first, { notes: check.notes });
}

/** The program of the thread is found beside this file, in sources as in what is built from them. */
function start(): Worker {
  const file = new URL(import.meta.url.endsWith(".ts") ? "./check-worker.ts" : "./check-worker.js", import.meta.url);
  return new Worker(file, {
    // Flags the process was started with are none of the worker's: some of them it would refuse.
    execArgv: [],
    name: "toolarsenal-check",
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
}
