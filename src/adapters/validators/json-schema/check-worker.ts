import { parentPort } from "node:worker_threads";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { setNewest } from "../../../base/remember.ts";
import type { FromThread, ToThread } from "./check-thread.ts";
import { compileSchema, type SchemaCheck, withinLimits } from "./compile-schema.ts";

/** The number of cached schemas. The least recently used one is dropped. */
const MAX_SCHEMAS = 50;

/** The limits of one check on the thread: about a quarter of a second. Patterns run until the thread is ended. */
const LIMITS = { maxSteps: 5_000_000, mayBacktrack: true };

/** The thread that parses large schemas and runs long checks. */
if (parentPort) serve(parentPort);

function serve(port: NonNullable<typeof parentPort>): void {
  const schemas = new Map<string, SchemaCheck>();

  function answer({ schema, value }: ToThread): FromThread {
    const check = schemas.get(schema) ?? compileSchema(JSON.parse(schema) as JsonSchema);
    setNewest(schemas, schema, check, MAX_SCHEMAS);
    if (value === undefined) return { notes: check.notes };
    const given: unknown = JSON.parse(value);
    const checked = withinLimits(check, LIMITS)(given);
    if (!checked.valid) return { problems: checked.problems };
    return checked.value === given ? { same: true } : { filled: JSON.stringify(checked.value) };
  }

  port.on("message", (job: ToThread) => {
    try {
      port.postMessage(answer(job), []);
    } catch (error) {
      const message = messageOf(error);
      port.postMessage({ message, isToolInvalid: isArsenalError(error) } satisfies FromThread, []);
    }
  });
  port.postMessage({ ready: true } satisfies FromThread, []);
}
