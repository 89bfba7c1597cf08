import type { CallStream } from "../../../transcode/dialect.port.ts";
import { createCallAssembly } from "../parts/call-assembly.ts";
import { asRecords } from "../parts/read-call.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Gathers calls from streamed answers. A call mostly comes whole; where the request asked for streamed arguments it comes as a first chunk
 * with its name, chunks with values at paths (`$.place.city`), and a last one without `willContinue`.
 */
export function createGeminiStream(callsOf: (response: unknown) => readonly Json[]): CallStream {
  const assembly = createCallAssembly();
  let growing: Record<string, unknown> | undefined;

  return {
    push: (event) =>
      callsOf(event).flatMap((call) => {
        const { id, name, args, partialArgs, willContinue } = call;
        if (growing === undefined && willContinue !== true && partialArgs === undefined)
          return [assembly.whole({ id, name, arguments: args })];
        growing ??= {};
        assembly.open(GROWING, { id, name });
        for (const piece of asRecords(partialArgs)) place(growing, piece);
        assembly.set(GROWING, growing);
        if (willContinue === true) return [];
        growing = undefined;
        return assembly.close(GROWING);
      }),
    end: () => assembly.closeAll().map((call) => ({ ...call, problem: CUT })),
  };
}

/** One call grows at a time. */
const GROWING = "growing";
const CUT = "The answer ended in the middle of the arguments. Call the tool again.";

/** Puts a value where its path says; text that continues is appended. */
function place(root: Record<string, unknown>, piece: Json): void {
  const { jsonPath } = piece;
  const path = typeof jsonPath === "string" ? jsonPath : "";
  const steps = [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g)].map(
    ([, member, index, quoted]) => member ?? quoted ?? Number(index),
  );
  const last = steps.pop();
  if (last === undefined) return;
  let target = root as Record<string | number, unknown>;
  for (const [position, step] of steps.entries()) {
    const following = steps[position + 1] ?? last;
    if (!Object.hasOwn(target, step) || typeof target[step] !== "object" || target[step] === null)
      define(target, step, typeof following === "number" ? [] : {});
    target = target[step] as Record<string | number, unknown>;
  }
  const value = piece["stringValue"] ?? piece["numberValue"] ?? piece["boolValue"] ?? null;
  const before = Object.hasOwn(target, last) ? target[last] : undefined;
  define(target, last, typeof before === "string" && typeof value === "string" ? before + value : value);
}

/** Never through a setter: a path may name `__proto__`. */
function define(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
