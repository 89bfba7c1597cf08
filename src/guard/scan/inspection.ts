import type { Tool } from "../../tool/tool.ts";

/** Looks through what passes a call. Never throws: a text that could not be looked at is let through or refused as configured, and told. */
export interface Inspection {
  /** Why these arguments may not reach the tool; undefined where they may. */
  arguments(tool: Tool, args: Readonly<Record<string, unknown>>): string | undefined;
  /** A result as it may be given on, or why it may not be. */
  result(tool: Tool, value: unknown): InspectedResult;
}

export type InspectedResult = { readonly value: unknown } | { readonly refused: string };
