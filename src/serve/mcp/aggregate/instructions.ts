import { EXECUTE_TOOL, FIND_TOOL } from "./tools/meta-tools.ts";

/** How much of the catalog clients are shown. */
export type ServeMode = "static" | "dynamic" | "hybrid";

const MAX_NAMES = 20;

/** What a model is told about the server as a whole. */
export function instructionsFor(mode: ServeMode, upstreams: readonly string[]): string {
  const shown = upstreams.slice(0, MAX_NAMES).join(", ");
  const more = upstreams.length > MAX_NAMES ? ` and ${upstreams.length - MAX_NAMES} more` : "";
  const whose =
    upstreams.length === 0 ? "This server offers tools." : `This server offers the tools of ${shown}${more}.`;
  const find = `call ${FIND_TOOL} with what you want to accomplish, then run a tool that it returns with ${EXECUTE_TOOL}`;
  switch (mode) {
    case "static":
      return whose;
    case "dynamic":
      return `${whose} They are not listed: first ${find}.`;
    case "hybrid":
      return `${whose} Only the most common are listed: for anything else, ${find}.`;
  }
}
