import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";

/** The error of an engine that is used before `open()` or after `close()`. */
export function notOpen(title: string, closed: boolean): ArsenalError {
  return closed
    ? fixable("CLOSED", `The ${title} engine was closed.`, "Call open() to use it again.")
    : fixable("STORE_FAILED", `The ${title} engine is not open yet.`, "Call open() first.");
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
