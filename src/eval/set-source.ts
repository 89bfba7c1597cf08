import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Source } from "../register/source.port.ts";
import type { SetTool } from "./read-set.ts";

/** The tools of an evaluation set as a source: normalised like any other, and findable by the id from the file. */
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
