import type { Health } from "../tool/tool.ts";

/** How each tool has fared. */
export interface HealthBook {
  /** A tool never called is healthy. */
  of(toolId: string): Health;
  recordSuccess(toolId: string, latencyMs: number): void;
  recordFailure(toolId: string, latencyMs: number): void;
  setCircuit(toolId: string, open: boolean): void;
  forget(toolId: string): void;
}
