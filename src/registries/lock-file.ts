import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fixable } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { replaceFile } from "../system/replace-file.ts";

/** A server that was added from a registry or a file: its origin, and its pinned data. */
export interface LockedServer {
  /** The full name: `io.github.octo/weather`. */
  readonly name: string;
  readonly version: string;
  /** The registry's configured name; `file` or `bundle` for a server that came from a file. */
  readonly registry: string;
  readonly kind: string;
  /** The package with its version, the image or the address. */
  readonly package: string;
  /** Identifies the package's content. */
  readonly checksum?: string;
  /** Identifies the packages and addresses of the registry's entry. */
  readonly entry: string;
  /** The hash of each tool's definition, by its name. */
  readonly tools: Readonly<Record<string, string>>;
  /** The installed files, relative to the configuration. */
  readonly folder?: string;
  /** The env file with its secrets, relative to the configuration. */
  readonly envFile?: string;
  /** The user's values that are not secret, by the name of the input. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** The variable of the env file that holds a secret value, by the name of the input. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** True for a server that no registry has updates of. */
export const isFromFile = ({ registry }: LockedServer): boolean => registry === "file" || registry === "bundle";

export type LockedServers = Readonly<Record<string, LockedServer>>;

/** The path of the lock file of a configuration. It has no secrets and belongs under version control. */
export function lockPath(config: string): string {
  return join(dirname(config), "arsenal.lock.json");
}

/** Reads the servers of a lock file, by their configured names; none if there is no file. Throws CONFIG_INVALID. */
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

/** The text of a lock file. */
export function lockText(servers: LockedServers): string {
  const sorted = Object.fromEntries(Object.entries(servers).sort(([one], [other]) => (one < other ? -1 : 1)));
  return `${JSON.stringify({ version: 1, servers: sorted }, undefined, 2)}\n`;
}

/** Changes one server of the lock file, or removes it. */
export async function writeLock(config: string, name: string, server: LockedServer | undefined): Promise<void> {
  const { [name]: _before, ...others } = await readLock(config);
  await replaceFile(lockPath(config), lockText(server === undefined ? others : { ...others, [name]: server }));
}
