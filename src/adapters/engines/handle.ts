import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { type ArsenalError, withFix } from "../../errors/arsenal-error.ts";

/** The error of an engine that is used before `open()` or after `close()`. */
export function notOpen(title: string, closed: boolean): ArsenalError {
  return closed
    ? withFix("CLOSED", `The ${title} engine was closed.`, "Call open() to use it again.")
    : withFix("STORE_FAILED", `The ${title} engine is not open yet.`, "Call open() first.");
}

/** Runs the changes of an engine one after the other. */
export interface Turns {
  take<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when the last change is done, however it ended. */
  idle(): Promise<unknown>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(work) {
      const result = last.then(work);
      last = result.catch(() => {});
      return result;
    },
    idle: () => last,
  };
}

/** Opens an engine as the arsenal will, which also creates what it needs, and counts its tools. */
export async function checkEngine(engine: CatalogEngine, where: string): Promise<string> {
  try {
    await engine.open();
    return `${where}, ${await engine.count()} tools`;
  } finally {
    await engine.close();
  }
}
