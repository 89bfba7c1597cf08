import type { Source } from "../../register/source.port.ts";
import type { Shape, InputOf } from "../../tool/shape/shape.ts";
import type { McpServerSettings } from "./mcp/settings.ts";
import type { sources } from "./manifest.ts";

type Sources = typeof sources;
export type SourceType = keyof Sources;
type ConfigOf<Type extends SourceType> =
  Awaited<ReturnType<Sources[Type]>> extends { readonly config: infer Config extends Shape } ? Config : never;

/** The settings of a source with its type: an entry of `sources:`, the body of `POST /ensembles`, or the result of a function such as `mcp({…})`. */
export type NamedSource =
  | { [Type in SourceType]: Omit<InputOf<ConfigOf<Type>>, "type"> & { readonly type: Type } }[SourceType]
  | (McpServerSettings & { readonly type: "mcp" });

/** A source to add: settings with a type, or a custom source. */
export type GivenSource = NamedSource | Source;

/** Options for adding a source. */
export interface AddSourceOptions {
  /**
   * Retries in the background until the source connects or is removed. An MCP server is then added at once. For other sources, a first failure is
   * still thrown.
   */
  readonly patient?: boolean;
  /** True for a source from a configuration file. If `security.pins` is `all`, its command starts only after an operator has approved it. */
  readonly configured?: boolean;
  /** Aborts connecting, and ends the processes that were started for it. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each source that is created from the settings, before it connects. */
  readonly added?: (source: Source) => void;
}
