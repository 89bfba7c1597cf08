import { fixable } from "../errors/arsenal-error.ts";
import { localOperator, type Principal } from "../guard/principal.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import type { CodeMode } from "../programs/code-mode.ts";
import { createRunner, scopeTo } from "../toolset/runner.ts";
import type { ServableArsenal } from "./served-arsenal.ts";
import { refuse } from "./http/answer.ts";
import type { Route, Serving } from "./surface.ts";

/** Limits serving to one toolset: other tools do not exist, and connecting servers are not named. */
export function servedToolset<Context extends Serving>(serving: Context, toolset: string): Context {
  const { arsenal, startup } = serving;
  return { ...serving, toolset, arsenal: scopedArsenal(arsenal, toolset), startup: { ...startup, shown: () => [] } };
}

/** Returns true if a caller may use the served tools. Only toolsets exclude callers. */
export function mayUse(
  { arsenal, toolset }: Pick<Serving, "toolset"> & { readonly arsenal: Pick<ServableArsenal, "toolsets"> },
  principal: Principal,
): boolean {
  return toolset === undefined || arsenal.toolsets.find(toolset, principal) !== undefined;
}

/** Wraps a route so that it answers only callers who may use the served tools. */
export function forAdmitted(route: Route, serving: Serving): Route {
  return {
    ...route,
    handle(exchange) {
      if (mayUse(serving, exchange.principal)) return route.handle(exchange);
      refuse(exchange.response, { status: 404, message: "You may not use this address." });
    },
  };
}

/** Returns the author's description of a toolset; empty if the toolset no longer exists. */
export function descriptionOf({ toolsets }: Pick<ServableArsenal, "toolsets">, toolset: string): string {
  return toolsets.find(toolset, localOperator())?.description ?? "";
}

function scopedArsenal(arsenal: ServableArsenal, toolset: string, clock: Clock = systemClock): ServableArsenal {
  const runner = createRunner(arsenal, toolset);
  return {
    ...scopeTo(arsenal, toolset),
    executeBatch: (batch) => runner.executeBatch(batch),
    retrieveTools: (query, options) => arsenal.retrieveTools(query, { ...options, toolset }),
    exportTools: (format, ids, options) => arsenal.exportTools(format, ids, { ...options, toolset }),
    addTool: refuseChange,
    addTools: refuseChange,
    importTools: refuseChange,
    deleteTool: refuseChange,
    sync: refuseChange,
    health: (toolId) => arsenal.health(toolId),
    healthCheck: () => arsenal.healthCheck(),
    get toolCount() {
      return arsenal.toolCount;
    },
    scoreThreshold: arsenal.scoreThreshold,
    codeMode: async () => withToolset(await arsenal.codeMode(), toolset),
    runs: () => arsenal.runs(),
    savedPrograms: refuseChange,
    approvals: arsenal.approvals,
    pins: arsenal.pins,
    llm: arsenal.llm,
    get upstreams() {
      return arsenal.upstreams;
    },
    toolsets: {
      find: (name, principal) => arsenal.toolsets.find(name, principal),
      get: (name, principal) => arsenal.toolsets.get(name, principal),
      list: (principal) => arsenal.toolsets.list(principal).filter(({ name }) => name === toolset),
      watch: (changed) => arsenal.toolsets.watch(changed),
    },
    upstreamsAttempted: (options) => arsenal.upstreamsAttempted(options),
    subscribe(listener, options) {
      const endEvents = arsenal.subscribe(listener, options);
      // A changed toolset is a changed catalog for its clients.
      const endWatch = arsenal.toolsets.watch((name) => {
        const data = { changed: 0, deleted: 0 };
        if (name === toolset && (options?.names?.includes("catalog-changed") ?? true))
          listener({ name: "catalog-changed", level: "debug", at: clock.now(), data });
      });
      return () => {
        endEvents();
        endWatch();
      };
    },
  };
}

function withToolset(code: CodeMode, toolset: string): CodeMode {
  return {
    ...code,
    run: (request) => code.run({ ...request, toolset }),
    describe: (tools, by) => code.describe(tools, { ...by, toolset }),
    toolCount: (principal) => code.toolCount(principal, toolset),
  };
}

/** Refuses changes, because the catalog cannot be changed through a toolset. */
async function refuseChange(): Promise<never> {
  const fix = "To change the catalog, serve all tools: omit --toolset.";
  throw fixable("PERMISSION_DENIED", "Only one toolset is served, and the catalog cannot be changed.", fix);
}
