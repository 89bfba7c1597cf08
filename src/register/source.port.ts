import type { Emit } from "../observe/events.ts";
import type { SourceDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import type { Capability, ToolSource } from "../tool/tool.ts";

/** A tool as a source offers it: its definition, possibly incomplete, and its handler. */
export interface OfferedTool {
  readonly draft: SourceDraft;
  readonly handler: Handler;
}

/** The origin of the tools of one ensemble. The arsenal connects it, lists it, follows its changes and closes it. */
export interface Source extends EnsembleSettings {
  /** The ensemble's name. */
  readonly name: string;
  readonly kind: ToolSource;
  /** The namespaces its tools may be in, the first by default. Defaults to its own name; `any` if the operator wrote the definitions. */
  readonly namespaces?: readonly string[] | "any";
  /** Capabilities that apply to every one of its tools, whatever the tool declares. */
  readonly capabilities?: readonly Capability[];
  /** True if the operator vouches for the annotations that the source gives. */
  readonly trustsAnnotations?: boolean;
  /** Opens whatever the source needs. Called before `list`; rejects if the source cannot be reached. */
  connect(options: SourceOptions): Promise<void>;
  /**
   * Every tool that the source has now, and its settings from now on. An invalid tool is offered unchanged, or reported; it never rejects the list.
   */
  list(options: SourceOptions): Promise<readonly OfferedTool[]>;
  /** The source's instructions for models as of its last listing; empty if it has none, undefined if they are not known yet. */
  instructions?(): string | undefined;
  /** Reads the source again instead of using the copy in memory. Omitted if `list` always reads it. */
  reload?(options: SourceOptions): Promise<void>;
  /** The source's log, also from before it failed to connect. Omitted if the source writes nothing. */
  readonly log?: SourceLog;
  /** Calls back when the list may have changed. Returns a function that stops it. */
  watch?(changed: () => void): () => void;
  /**
   * Problems of its tools at the last listing, or that the source is switched off, for `toolarsenal doctor`. Omitted if events report all problems.
   */
  findings?(): readonly SourceFinding[];
  /** Releases everything. Safe to call twice, and before `connect`. */
  disconnect(): Promise<void>;
  /** Returns a new source with the same settings, if this one cannot be connected again after `disconnect`. */
  again?(): Source;
}

/** A remark on a source, or on one of its tools. */
export interface SourceFinding {
  readonly state: "ok" | "warning" | "failed";
  /** The tool's name within the ensemble. Omitted if the remark is about the source. */
  readonly tool?: string;
  readonly message: string;
  readonly fix?: string;
  /** The error behind it, which an event reported too. */
  readonly error?: Error;
}

/** The settings of a source for all its tools. */
export interface EnsembleSettings {
  /** Calls of the source's tools that run at once. Defaults to `execution.maxConcurrentPerEnsemble`. */
  readonly maxConcurrent?: number | undefined;
  /** Time one run may take, in milliseconds, unless the tool sets its own. */
  readonly timeoutMs?: number | undefined;
  /** The same for callers who can answer questions during the run. Defaults to `timeoutMs`. */
  readonly askingTimeoutMs?: number | undefined;
  /** The same for callers who follow the run as a task. Defaults to `timeoutMs`. */
  readonly taskTimeoutMs?: number | undefined;
  /** The most attempts at a call that is safe to repeat; 0 and 1 mean no retry. Defaults to `execution.maxRetries`. */
  readonly maxRetries?: number | undefined;
  /** True if every request that its tools make goes through `guard/egress`, so that a rule can restrict the destinations of a call. */
  readonly guardsEgress?: boolean;
}

/** The latest lines that a source wrote. */
export interface SourceLog {
  /** Returns the lines with an id above `after`, newest last, without secrets and terminal escapes. Defaults to all lines. */
  read(after?: number): readonly LogLine[];
}

/** One line of a source's log. */
export interface LogLine {
  /** Increases with every line. */
  readonly id: number;
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The program's standard error, a log message of the MCP server, or an observation of the gateway. */
  readonly from: "stderr" | "mcp" | "gateway";
  /** The severity stated by the MCP server. */
  readonly level?: string;
  readonly text: string;
}

/** Options for connecting and listing a source. */
export interface SourceOptions {
  readonly signal: AbortSignal;
  /** Reports problems of the source, such as a tool that is left out. */
  readonly emit?: Emit;
}
