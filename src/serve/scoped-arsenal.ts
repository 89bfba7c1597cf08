import { localOperator, type Principal } from "../guard/principal.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import { scopeTo } from "../toolset/runner.ts";
import type { ServableArsenal } from "./served-arsenal.ts";
import type { Serving } from "./surface.ts";

/** Narrows what is served to one toolset: a tool outside it does not exist, and servers that are still connecting are not named. */
export function servedToolset<Context extends Serving>(serving: Context, toolset: string): Context {
  const { arsenal, startup } = serving;
  return { ...serving, toolset, arsenal: scopedArsenal(arsenal, toolset), startup: { ...startup, shown: () => [] } };
}

/** Whether a caller may use what is served: everybody may, unless it is a toolset that does not admit them. */
export function mayUse({ arsenal, toolset }: Pick<Serving, "arsenal" | "toolset">, principal: Principal): boolean {
  return toolset === undefined || arsenal.toolsets.find(toolset, principal) !== undefined;
}

/** What its author wrote about a toolset; empty if it is gone. */
export function descriptionOf({ toolsets }: Pick<ServableArsenal, "toolsets">, toolset: string): string {
  return toolsets.find(toolset, localOperator())?.description ?? "";
}

function scopedArsenal(arsenal: ServableArsenal, toolset: string, clock: Clock = systemClock): ServableArsenal {
  return {
    ...scopeTo(arsenal, toolset),
    get approvals() {
      return arsenal.approvals;
    },
    get pins() {
      return arsenal.pins;
    },
    get upstreams() {
      return arsenal.upstreams;
    },
    get toolsets() {
      return arsenal.toolsets;
    },
    upstreamsAttempted: (options) => arsenal.upstreamsAttempted(options),
    subscribe(listener) {
      const endEvents = arsenal.subscribe(listener);
      // To those who look through it, a toolset that is another now is a catalog that changed.
      const endWatch = arsenal.toolsets.watch((name) => {
        const data = { changed: 0, deleted: 0 };
        if (name === toolset) listener({ name: "catalog-changed", level: "debug", at: clock.now(), data });
      });
      return () => {
        endEvents();
        endWatch();
      };
    },
  };
}
