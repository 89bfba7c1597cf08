import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fixable } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { replaceFile } from "../system/replace-file.ts";

/** An added server: its origin and its pinned data. */
export interface LockedServer {
  /** The full name: `io.github.octo/weather`. */
  readonly name: string;
  readonly version: string;
  /** The registry's configured name; `file` or `bundle` for a server from a file. */
  readonly registry: string;
  readonly kind: string;
  /** The package with its version, the image or the address. */
  readonly package: string;
  /** Identifies the package's content. */
  readonly checksum?: string;
  /** Hash of the packages and addresses in the registry's entry. */
  readonly entry: string;
  /** The hash of each tool's definition, by the tool's name. */
  readonly tools: Readonly<Record<string, string>>;
  /** The folder of the installed files, relative to the configuration. */
  readonly folder?: string;
  /** The env file with its secrets, relative to the configuration. */
  readonly envFile?: string;
  /** The user's values that are not secret, by input name. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** The variable of the env file that holds each secret value, by input name. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** Returns true for a server that did not come from a registry, so has no updates. */
export const isFromFile = ({ registry }: LockedServer): boolean => registry === "file" || registry === "bundle";

export type LockedServers = Readonly<Record<string, LockedServer>>;

/** Returns the path of a configuration's lock file. The file has no secrets and belongs under version control. */
export function lockPath(config: string): string {
  return join(dirname(config), "arsenal.lock.json");
}

/** Reads the servers of a lock file, by their configured names. Returns none if the file does not exist. Throws CONFIG_INVALID. */
export async function readLock(config: string): Promise<LockedServers> {
  const path = lockPath(config);
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    if (isPlainObject(value) && isPlainObject(value["servers"])) return value["servers"] as LockedServers;
    throw new Error('it has no object "servers"');
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    const problem = `${path} cannot be read: ${messageOf(error).replace(/\.$/, "")}.`;
    throw fixable("CONFIG_INVALID", problem, "Restore it from version control, or delete it.", {
      field: "lock",
      value: path,
    });
  }
}

export function lockText(servers: LockedServers): string {
  const sorted = Object.fromEntries(Object.entries(servers).sort(([one], [other]) => (one < other ? -1 : 1)));
  return `${JSON.stringify({ version: 1, servers: sorted }, undefined, 2)}\n`;
}

/** Changes or removes one server of the lock file. */
export async function writeLock(config: string, name: string, server: LockedServer | undefined): Promise<void> {
  const { [name]: _before, ...others } = await readLock(config);
  await replaceFile(lockPath(config), lockText(server === undefined ? others : { ...others, [name]: server }));
}
