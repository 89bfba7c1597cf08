import type { Principal } from "./guard/principal.ts";

export type {
  AnyDialect,
  DefinitionOptions,
  DefinitionWriter,
  RetrieveToolsOptions,
} from "./adapters/dialects/write-definitions.ts";
export type { Llm } from "./agent/llm.port.ts";

/** For whom something is asked of the catalog: what they may not see does not exist for them. */
export interface AskedBy {
  readonly principal?: Principal;
  /** Looks only at the tools of this toolset. Defaults to the whole catalog. */
  readonly toolset?: string;
}
