import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import type { Reach } from "../../guard/source-reach.ts";
import { hasSecret } from "../../guard/secrets/reference.ts";
import type { Source } from "../../register/source.port.ts";
import type { Runs } from "../../runs/runs.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Surroundings } from "../surroundings.ts";
import type { UserTokens } from "./mcp/oauth/user-tokens.ts";
import type { Invocables } from "./descriptor/invocable.ts";

export type { Reach } from "../../guard/source-reach.ts";

/**
 * The module of a source, named in the manifest. Configuration, library, REST, client, dashboard, hot reload, `import` and `doctor` use only this
 * module.
 */
export interface SourceAdapter<Settings = object> {
  /** The schema of the settings, declared with adapters/settings.ts. */
  readonly config: JsonSchema;
  /** Creates a source. Throws CONFIG_INVALID if the settings cannot be used. */
  create(settings: Settings, surroundings: SourceSurroundings): Source | Promise<Source>;
  /** Returns the resources of this machine and its network that the settings use. */
  reach(settings: Settings): Reach;
  /** Returns the reason why settings that match `config` cannot be used; undefined if they can. */
  problem?(settings: Settings): SettingProblem | undefined;
  /** Returns the settings of each source, if these settings describe several. */
  expand?(settings: Settings): Promise<readonly Settings[]>;
  /** True if sources with `patient` connect in the background and retry by themselves. */
  readonly patient?: boolean;
  /** Returns the files that the source is read from. */
  watch?(settings: Settings): WatchedFiles;
  /** Implements `toolarsenal import KIND WORDS…`. */
  import?: ImportCommand<Settings>;
}

/** The second argument of `create`. */
export interface SourceSurroundings extends Pick<Surroundings, "clock" | "emit" | "egress" | "secrets"> {
  /** True if connecting may continue in the background without a time limit. */
  readonly patient: boolean;
  /** Returns the reason why a command must not be started; undefined if it may start. Omitted unless a configuration file names the source. */
  readonly mayStart?:
    | ((source: string, command: Readonly<Record<string, unknown>>) => Promise<string | undefined>)
    | undefined;
  /** Returns the gateway's own files, which no tool may read, send or change. */
  ownFiles(): Promise<readonly string[]>;
  /** Functions by name, for descriptors without modules. */
  readonly handlers?: Invocables | undefined;
  /** Names and patterns of environment variables that programs inherit. Defaults to the variables that every program needs. */
  readonly envPassthrough?: readonly string[] | undefined;
  /** Loads the tokens of callers who sign in to servers themselves. Omitted outside an arsenal. */
  userTokens?(): Promise<UserTokens>;
  /** True if every message to and from servers is emitted as an event. */
  readonly debugProtocol: boolean;
  /** The arsenal, for sources whose tools call other tools. Omitted outside an arsenal. */
  readonly host?: ToolHost | undefined;
}

/** The arsenal, from the view of a source whose tools call other tools. */
export interface ToolHost {
  /** Returns the tool with exactly this id, regardless of what callers may see. */
  tool(id: string): Promise<Tool | undefined>;
  /** Returns the id with the most similar spelling. */
  similarId(id: string): Promise<string | undefined>;
  /**
   * Calls `changed` with the id of each tool that is registered, changed or deleted. The id is undefined if another process changed the catalog.
   * Returns a function that stops the watch.
   */
  watch(changed: (toolId: string | undefined) => void): () => void;
  /** Runs that outlive their process. */
  runs(): Promise<Runs>;
}

/** Returns the origin of a source for messages: its files, addresses or commands. */
export function placeOf({ reads = [], addresses = [], commands = [] }: Reach): string {
  return ([reads, addresses, commands].find((places) => places.length > 0) ?? []).join(", ");
}

export interface SettingProblem {
  /** Dotted path within the source's settings: `url`, `env.TOKEN`. */
  readonly field: string;
  /** Omitted if it may be a secret. */
  readonly value?: unknown;
  readonly message: string;
  readonly fix: string;
}

/** The error for invalid settings. `whose` names the source. */
export function problemError(whose: string, { field, value, message, fix }: SettingProblem): ArsenalError {
  return fixable("CONFIG_INVALID", `${field} of ${whose} ${message}.`, fix, { field, value });
}

export interface WatchedFiles {
  readonly files: readonly string[];
  /** True if a connected source notices changes by itself. Otherwise it is added again when a file changes. */
  readonly followed: boolean;
}

export interface ImportCommand<Settings = object> {
  readonly summary: string;
  readonly positionals: readonly string[];
  readonly examples: readonly string[];
  open(words: readonly string[], asked: ImportRequest<Settings>): Promise<readonly ImportedSource[]>;
}

export interface ImportRequest<Settings = object> {
  /** The base folder of relative paths. */
  readonly folder: string;
  /** The namespace of the tools. Defaults to the source's own name. */
  readonly name: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns the settings of the configured source with this name and kind. If there is none, suggests a similar name on stderr. */
  configured(name: string): Promise<Settings | undefined>;
  /** Reads the servers in an MCP client's configuration file. */
  clientFile(path: string): Promise<{ readonly settings: readonly Settings[]; readonly skipped: readonly string[] }>;
}

export interface ImportedSource {
  readonly source: Source;
  /** Returns the omitted entries, one line each, after the source was listed. */
  skipped(): readonly string[];
}

/** True for a file or a folder, false for an address. */
export function isLocal(place: string): boolean {
  return !/^https?:/i.test(place);
}

/** True if a value, or a part of it, refers to a secret. */
export function hasReference(value: unknown): boolean {
  if (typeof value === "string") return hasSecret(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasReference);
}
