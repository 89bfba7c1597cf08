import type { Emit } from "../observe/events.ts";
import type { SourceDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import type { Capability, ToolSource } from "../tool/tool.ts";

/** A tool as a source offers it: its definition, possibly incomplete, and its handler. */
export interface OfferedTool {
  readonly draft: SourceDraft;
  readonly handler: Handler;
}

/** The origin of the tools of one ensemble. The arsenal connects the source, lists its tools, follows its changes and closes it. */
export interface Source extends EnsembleSettings {
  readonly name: string;
  readonly kind: ToolSource;
  /** The namespaces that its tools may use; the first is the default. Defaults to the source's name. `any` if the operator wrote the definitions. */
  readonly namespaces?: readonly string[] | "any";
  /** Capabilities that every tool of the source requires, in addition to its own. */
  readonly capabilities?: readonly Capability[];
  /** True if the operator confirms the source's annotations. */
  readonly trustsAnnotations?: boolean;
  /** Opens connections and other resources. Called before `list`. Rejects if the source cannot be reached. */
  connect(options: SourceOptions): Promise<void>;
  /** Returns every current tool of the source. An invalid tool is returned unchanged, or reported; it never rejects the list. */
  list(options: SourceOptions): Promise<readonly OfferedTool[]>;
  /** Returns the source's instructions for models as of its last listing. Empty if it has none, undefined if they are not known yet. */
  instructions?(): string | undefined;
  /** Reads the source again, bypassing its in-memory copy. Omitted if `list` always reads the source. */
  reload?(options: SourceOptions): Promise<void>;
  /** The source's log, including lines from before it failed to connect. Omitted if the source writes nothing. */
  readonly log?: SourceLog;
  /** Calls `changed` when the list may have changed. Returns a function that stops watching. */
  watch?(changed: () => void): () => void;
  /** Returns problems of the source's tools, or that the source is disabled, for `toolarsenal doctor`. Omitted if events report all problems. */
  findings?(): readonly SourceFinding[];
  /** Releases all resources. Safe to call twice, and before `connect`. */
  disconnect(): Promise<void>;
  /** Returns a new source with the same settings. For sources that cannot be connected again after `disconnect`. */
  again?(): Source;
}

/** A remark on a source, or on one of its tools. */
export interface SourceFinding {
  readonly state: "ok" | "warning" | "failed";
  /** The tool's name within the ensemble. Omitted if the finding is about the source. */
  readonly tool?: string;
  readonly message: string;
  readonly fix?: string;
  /** The cause, which an event reported too. */
  readonly error?: Error;
}

export interface EnsembleSettings {
  /** The maximum number of concurrent calls of the source's tools. Defaults to `execution.maxConcurrentPerEnsemble`. */
  readonly maxConcurrent?: number | undefined;
  /** The timeout of one run, in milliseconds, unless the tool sets its own. */
  readonly timeoutMs?: number | undefined;
  /** The timeout for callers who can answer questions during the run. Defaults to `timeoutMs`. */
  readonly askingTimeoutMs?: number | undefined;
  /** The timeout for callers who follow the run as a task. Defaults to `timeoutMs`. */
  readonly taskTimeoutMs?: number | undefined;
  /** The maximum number of attempts for calls that are safe to repeat; 0 and 1 mean no retry. Defaults to `execution.maxRetries`. */
  readonly maxRetries?: number | undefined;
  /** True if all requests of its tools go through `guard/egress`, so that a rule can restrict the destinations of a call. */
  readonly guardsEgress?: boolean;
}

/** The latest lines of a source's log. */
export interface SourceLog {
  /** Returns the lines with an id above `after`, newest last, without secrets and terminal escapes. Defaults to all lines. */
  read(after?: number): readonly LogLine[];
}

/** One line of a source's log. */
export interface LogLine {
  /** Increases with every line. */
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The program's standard error, a log message of the MCP server, or a message of the gateway. */
  readonly from: "stderr" | "mcp" | "gateway";
  /** The severity according to the MCP server. */
  readonly level?: string;
  readonly text: string;
}

/** Options for connecting and listing a source. */
export interface SourceOptions {
  readonly signal: AbortSignal;
  /** Reports problems of the source, such as a tool that is omitted. */
  readonly emit?: Emit;
}
