import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Source } from "../register/source.port.ts";
import type { SetTool } from "./read-set.ts";

/** Returns the tools of an evaluation set as a source. They are normalised like all tools, and can be found by their ids from the file. */
export function setSource(tools: readonly SetTool[]): Source {
  return {
    name: "set",
    kind: "descriptor",
    namespaces: "any",
    async connect({ signal }) {
      signal.throwIfAborted();
    },
    async list() {
      return tools.map(({ id, draft }) => ({
        draft: { ...draft, sourceMeta: { setId: id } },
        handler() {
          throw new ArsenalError("HANDLER_MISSING", "Tools of an evaluation set cannot be run.", {
            fix: "Use `call` on a configured arsenal.",
          });
        },
      }));
    },
    async disconnect() {},
  };
}
