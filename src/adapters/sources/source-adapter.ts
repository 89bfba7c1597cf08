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
 * The module of a source, as its manifest names it. Configuration, library, REST, client, dashboard, hot reload, `import` and `doctor` use only
 * this module.
 */
export interface SourceAdapter<Settings = object> {
  /** The settings, declared once, in the language of adapters/settings.ts. */
  readonly config: JsonSchema;
  /** Makes the source of settings. Throws CONFIG_INVALID if they cannot be used. */
  create(settings: Settings, surroundings: SourceSurroundings): Source | Promise<Source>;
  /** Returns the resources of this machine and its network that the settings need. */
  reach(settings: Settings): Reach;
  /** Returns why settings that fit `config` cannot be used; undefined if they can. */
  problem?(settings: Settings): SettingProblem | undefined;
  /** Returns the settings of each source, if these settings describe several. */
  expand?(settings: Settings): Promise<readonly Settings[]>;
  /** True if its sources, with `patient`, connect in the background and retry automatically. */
  readonly patient?: boolean;
  /** Returns the files of this machine that the source is read from. */
  watch?(settings: Settings): WatchedFiles;
  /** Opens what `toolarsenal import KIND WORDS…` names. */
  import?: ImportCommand<Settings>;
}

/** The second argument of a source's `create`. */
export interface SourceSurroundings extends Pick<Surroundings, "clock" | "emit" | "egress" | "secrets"> {
  /** True if connecting may continue in the background without a time limit. */
  readonly patient: boolean;
  /** Returns why a command may not be started; undefined if it may. Omitted unless a configuration file names the source. */
  readonly mayStart?:
    | ((source: string, command: Readonly<Record<string, unknown>>) => Promise<string | undefined>)
    | undefined;
  /** Lists the gateway's own files, which no tool may read, send or change. */
  ownFiles(): Promise<readonly string[]>;
  /** Functions by name, for descriptors that name no module. */
  readonly handlers?: Invocables | undefined;
  /** Names and patterns of our variables that programs get. Defaults to those that every program needs. */
  readonly envPassthrough?: readonly string[] | undefined;
  /** Loads the tokens of callers who sign in to servers themselves. Omitted outside an arsenal. */
  userTokens?(): Promise<UserTokens>;
  /** True if every message to and from servers is an event. */
  readonly debugProtocol: boolean;
  /** The arsenal, for sources whose tools call other tools. Omitted outside an arsenal. */
  readonly host?: ToolHost | undefined;
}

/** The arsenal, as seen by a source whose tools call other tools. */
export interface ToolHost {
  /** The tool with exactly this id, whatever callers may see. */
  tool(id: string): Promise<Tool | undefined>;
  /** The id with the nearest spelling. */
  similarId(id: string): Promise<string | undefined>;
  /** Calls back with the id of each tool that is registered, changed or deleted; without one if other processes changed the catalog. Returns a function that ends the watch. */
  watch(changed: (toolId: string | undefined) => void): () => void;
  /** Work that outlives its process. */
  runs(): Promise<Runs>;
}

/** The origin of a source, for people: its files, its address or its command. */
export function placeOf({ reads = [], addresses = [], commands = [] }: Reach): string {
  return ([reads, addresses, commands].find((places) => places.length > 0) ?? []).join(", ");
}

/** One invalid setting. */
export interface SettingProblem {
  /** Dotted, from the settings of the source: `url`, `env.TOKEN`. */
  readonly field: string;
  /** The value as it was written; omitted if it may be a secret. */
  readonly value?: unknown;
  readonly message: string;
  readonly fix: string;
}

/** The error for invalid settings. `whose` names the source. */
export function problemError(whose: string, { field, value, message, fix }: SettingProblem): ArsenalError {
  return fixable("CONFIG_INVALID", `${field} of ${whose} ${message}.`, fix, { field, value });
}

/** The files that a source is read from. */
export interface WatchedFiles {
  readonly files: readonly string[];
  /** True if the source notices changes by itself once it is connected. Otherwise it is added again when a file changes. */
  readonly followed: boolean;
}

/** Opens a source for `toolarsenal import`. */
export interface ImportCommand<Settings = object> {
  readonly summary: string;
  readonly positionals: readonly string[];
  readonly examples: readonly string[];
  open(words: readonly string[], asked: ImportRequest<Settings>): Promise<readonly ImportedSource[]>;
}

/** The argument of an import's `open`. */
export interface ImportRequest<Settings = object> {
  /** The folder that relative paths start from. */
  readonly folder: string;
  /** The namespace of the tools. Defaults to the source's own name. */
  readonly name: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns the settings of the configured source of this kind that has a name. Names a similar one on stderr if there is none. */
  configured(name: string): Promise<Settings | undefined>;
  /** Reads the servers of an MCP client's file. */
  clientFile(path: string): Promise<{ readonly settings: readonly Settings[]; readonly skipped: readonly string[] }>;
}

/** A source to import from. */
export interface ImportedSource {
  readonly source: Source;
  /** The omitted entries, one line each, once the source was listed. */
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
