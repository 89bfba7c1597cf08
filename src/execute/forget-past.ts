import type { HealthBook } from "../observe/health.ts";
import type { Engine } from "./engine.ts";

/** Forgets the failures of a tool that was removed or replaced: one that comes back, or comes back changed, starts afresh. */
export function forgetPast(
  event: string,
  data: object,
  {
    engine,
    health,
  }: { readonly engine: Pick<Engine, "forget"> | undefined; readonly health: Pick<HealthBook, "forget"> },
): void {
  if (event !== "tool-deleted" && event !== "tool-replaced") return;
  const { toolId } = data as { readonly toolId: string };
  engine?.forget(toolId);
  if (event === "tool-deleted") health.forget(toolId);
}
