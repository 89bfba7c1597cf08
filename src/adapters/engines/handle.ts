import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import type { Tool } from "../../tool/tool.ts";

/** The error of an engine that is used before `open()` or after `close()`. */
export function notOpen(title: string, closed: boolean): ArsenalError {
  return closed
    ? fixable("CLOSED", `The ${title} engine was closed.`, "Call open() to use it again.")
    : fixable("STORE_FAILED", `The ${title} engine is not open yet.`, "Call open() first.");
}

/** Keeps the last version of each tool. */
export function latestOf(tools: readonly Tool[]): readonly Tool[] {
  return [...new Map(tools.map((tool) => [tool.id, tool])).values()];
}

/** After this many prepared tools, other work gets a turn. */
const TURN = 100;

/** Prepares tools for writing. Returns a function that returns the prepared form of a tool, and prepares a missing tool. */
export async function prepareAll<Prepared>(
  tools: readonly Tool[],
  prepare: (tool: Tool) => Prepared,
): Promise<(tool: Tool) => Prepared> {
  const prepared = new Map<Tool, Prepared>();
  for (const [index, tool] of tools.entries()) {
    if (index > 0 && index % TURN === 0) await nextTurn();
    prepared.set(tool, prepare(tool));
  }
  return (tool) => prepared.get(tool) ?? prepare(tool);
}

/** Opens an engine like the arsenal does, which also creates its storage, and counts its tools. */
export async function checkEngine(engine: CatalogEngine, where: string): Promise<string> {
  try {
    await engine.open();
    return `${where}, ${await engine.count()} tools`;
  } finally {
    await engine.close();
  }
}
