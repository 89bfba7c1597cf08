import { parentPort } from "node:worker_threads";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { interpreter } from "../interpreter/interpreter.ts";
import type { Check } from "../../../execute/validator.port.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import type { FromThread, ToThread } from "./check-thread.ts";

/** Schemas kept compiled; beyond it the one used least recently goes, and is sent again when it is needed. */
const MAX_CHECKS = 50;

/** Steps one check may take here, where nobody else waits: about a second. */
const MAX_STEPS = 20_000_000;

/** The thread in which large schemas are compiled and large arguments checked. */
if (parentPort) serve(parentPort);

function serve(port: NonNullable<typeof parentPort>): void {
  const { compile } = interpreter({ maxSteps: MAX_STEPS });
  const checks = new Map<number, Check>();

  function answer({ key, schema, value }: ToThread): FromThread {
    const check = checks.get(key) ?? (schema === undefined ? undefined : compile(JSON.parse(schema) as JsonSchema));
    if (!check) return { unknown: true };
    checks.delete(key);
    checks.set(key, check);
    const [oldest] = checks.keys();
    if (checks.size > MAX_CHECKS && oldest !== undefined) checks.delete(oldest);
    if (value === undefined) return { notes: check.notes ?? [] };
    const given: unknown = JSON.parse(value);
    const checked = check(given);
    if (!checked.valid) return { problems: checked.problems };
    return checked.value === given ? { same: true } : { filled: JSON.stringify(checked.value) };
  }

  port.on("message", (job: ToThread) => {
    try {
      port.postMessage(answer(job), []);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      port.postMessage({ message, isToolInvalid: isArsenalError(error) } satisfies FromThread, []);
    }
  });
  port.postMessage({ ready: true } satisfies FromThread, []);
}
