import type { Source } from "../../register/source.port.ts";
import type { Shape, InputOf } from "../../tool/shape/shape.ts";
import type { McpServerSettings } from "./mcp/settings.ts";
import type { sources } from "./manifest.ts";

type Sources = typeof sources;
/** Types of sources that can be named in settings. */
export type SourceType = keyof Sources;
type ConfigOf<Type extends SourceType> =
  Awaited<ReturnType<Sources[Type]>> extends { readonly config: infer Config extends Shape } ? Config : never;

/** The settings of a source with its type: an entry of `sources:`, the body of `POST /ensembles`, or what `mcp({…})` and the like return. */
export type NamedSource =
  | { [Type in SourceType]: Omit<InputOf<ConfigOf<Type>>, "type"> & { readonly type: Type } }[SourceType]
  | (McpServerSettings & { readonly type: "mcp" });

/** A source to add: settings with a type, or a source of your own. */
export type GivenSource = NamedSource | Source;

/** Options for adding a source. */
export interface AddSourceOptions {
  /**
   * Retries in the background until the source connects or is removed. An MCP server is then added at once; for other sources, the first failure is
   * still thrown.
   */
  readonly patient?: boolean;
  /** True for a source that a configuration file names: if `security.pins` is `all`, its command is started only after an operator accepted it. */
  readonly configured?: boolean;
  /** Cancels connecting, and ends the processes that were started for it. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each source that was made of the settings, before it is connected. */
  readonly added?: (source: Source) => void;
}
