import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { createTraceIds } from "../../execute/trace-ids.ts";
import type { Principal } from "../../guard/principal.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Events } from "../../observe/emitter.ts";
import { type CodeMode, createCodeMode } from "../../programs/code-mode.ts";
import type { ProgramHost } from "../../programs/program.ts";
import { programHost } from "../../programs/program-hosts.ts";
import type { Runs } from "../../runs/runs.ts";
import type { Toolsets } from "../../toolset/toolsets.ts";
import type { CallStages } from "../calls.ts";

/** Rejects with CONFIG_INVALID, and a fix, if the configured sandbox of programs does not work on this machine. */
export async function checkPrograms({ programs }: Pick<ResolvedConfig, "programs">): Promise<void> {
  const { sandbox, denoPath, ...bounds } = programs;
  const host = programHost(sandbox, bounds, { denoPath });
  try {
    await host.check();
  } catch (cause) {
    const problem = `programs.sandbox is ${sandbox}, which does not work on this machine.`;
    throw fixable("CONFIG_INVALID", problem, messageOf(cause), { field: "programs.sandbox", value: sandbox, cause });
  } finally {
    await host.close();
  }
}

export interface WiredCodeMode {
  readonly code: CodeMode;
  close(): Promise<void>;
}

export function wireCodeMode(stages: {
  readonly config: Pick<ResolvedConfig, "programs">;
  readonly runs: Runs;
  readonly events: Pick<Events, "subscribe">;
  readonly toolsets: Pick<Toolsets, "watch">;
  readonly clock: Clock;
  readonly operator: Principal;
  readonly ready: () => Promise<Pick<CallStages, "visible">>;
}): WiredCodeMode {
  const { runs, events, toolsets, clock, operator, ready } = stages;
  const { sandbox, denoPath, ...bounds } = stages.config.programs;
  const traceIds = createTraceIds();
  let host: ProgramHost | undefined;
  const names = ["tool-registered", "tool-replaced", "tool-deleted", "catalog-changed", "policy-reloaded"] as const;
  const code = createCodeMode({
    runs,
    host: () => (host ??= programHost(sandbox, bounds, { denoPath })),
    bounds,
    clock,
    operator,
    listTools: async (options) => (await ready()).visible.list(options),
    onCatalogChange(changed) {
      const ends = [events.subscribe(changed, { names }), toolsets.watch(changed)];
      return () => ends.forEach((end) => end());
    },
    newIds: () => ({ traceId: traceIds.traceId(), spanId: traceIds.spanId() }),
  });
  return {
    code,
    async close() {
      code.close();
      await host?.close();
    },
  };
}
