import type { AnyDialect } from "../adapters/dialects/write-definitions.ts";
import type { Principal } from "../guard/principal.ts";
import type { ImportOptions } from "../transcode/import-tools.ts";

export type {
  AnyDialect,
  DefinitionOptions,
  DefinitionWriter,
  RetrieveToolsOptions,
} from "../adapters/dialects/write-definitions.ts";
export type { Llm } from "../agent/llm.port.ts";

export interface AddToolsOptions extends AskedBy, ImportOptions {
  /** The API or framework that the tools are written for. Defaults to the arsenal's own definitions. */
  readonly format?: AnyDialect;
}

export interface ViewedBy extends AskedBy {
  /**
   * Also includes tools that the caller may not call, each with `refused`. An operator without a tenant gets the whole catalog, other callers
   * get what the policy lets them see. Defaults to false.
   */
  readonly includeRefused?: boolean;
}

/** The caller on whose behalf the catalog is read. Tools that the caller may not see are treated as if they did not exist. */
export interface AskedBy {
  readonly principal?: Principal;
  /** Reads only the tools of this toolset. Defaults to the whole catalog. */
  readonly toolset?: string;
}
