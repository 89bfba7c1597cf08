import { chmod, readFile, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PRIVATE_FOLDER } from "../cli/setup/gather.ts";
import { envFileText, readEnv } from "../cli/setup/env-file.ts";
import { withFileLock } from "../system/file-lock.ts";
import { replaceFile } from "../system/replace-file.ts";
import { findConfigured, withoutServer, withServer, type WrittenServer } from "./edit-config.ts";
import { lockPath, readLock, writeLock } from "./lock-file.ts";
import { makeFolder } from "../system/make-folder.ts";
import type { PreparedServer, ServerHome, TriedServer } from "./prepare-server.ts";
import type { ServerAnswers } from "./entry/inputs.ts";

/** Descriptions of the written files, for display. */
export type WrittenFiles = readonly string[];

/** Writes a tried server: installed files, secrets, pins, and last the configuration, so that a running gateway finds a complete server. */
export function commitServer(
  prepared: PreparedServer,
  tried: TriedServer,
  home: Pick<ServerHome, "config">,
): Promise<WrittenFiles> {
  return alone(home.config, () => commit(prepared, tried, home));
}

async function commit(
  prepared: PreparedServer,
  tried: TriedServer,
  { config }: Pick<ServerHome, "config">,
): Promise<WrittenFiles> {
  const { name, installation, before } = prepared;
  const { locked, filled } = tried;
  const folder = dirname(config);
  // Prepared in memory first: if the configuration cannot be edited, nothing changes.
  const text = await withServer(await readText(config), name, filled.entry, config);
  const written: string[] = [];
  await makeFolder(join(folder, PRIVATE_FOLDER), 0o700);
  await writeFile(join(folder, PRIVATE_FOLDER, ".gitignore"), "*\n", { flag: "wx" }).catch(() => {});
  if (locked.folder !== undefined && installation.staged !== undefined) {
    const target = join(folder, locked.folder);
    await makeFolder(dirname(target), 0o700);
    await rm(target, { recursive: true, force: true });
    await rename(installation.staged, target);
    written.push(locked.folder);
  }
  if (locked.envFile !== undefined) {
    const path = join(folder, locked.envFile);
    await replaceFile(path, envFileText(filled.secrets, [], (await readText(path)) ?? ""));
    written.push(locked.envFile);
  }
  await writeLock(config, name, locked);
  await replaceKeepingMode(config, text);
  await prepared.discard();
  if (before?.folder !== undefined && before.folder !== locked.folder) await removeInstalled(folder, before.folder);
  return [...written, lockPath(config), config];
}

/** A removed server: its section in the configuration, and the env file that is kept. */
export interface RemovedServer {
  readonly section: string;
  readonly envFile?: string;
}

/** Finds a configured server. Throws INPUT_INVALID if there is none of that name. */
export async function configuredServer(name: string, { config }: Pick<ServerHome, "config">): Promise<WrittenServer> {
  return findConfigured((await readText(config)) ?? "", name, config);
}

/** Removes a server from the configuration, with its pins and installed files. Its secrets are kept unless `purge` is set. */
export function removeServer(
  name: string,
  { config }: Pick<ServerHome, "config">,
  { purge = false } = {},
): Promise<RemovedServer> {
  return alone(config, () => remove(name, config, purge));
}

async function remove(name: string, config: string, purge: boolean): Promise<RemovedServer> {
  const { text, section } = await withoutServer((await readText(config)) ?? "", name, config);
  const locked = (await readLock(config))[name];
  await replaceKeepingMode(config, text);
  if (locked === undefined) return { section };
  await writeLock(config, name, undefined);
  const folder = dirname(config);
  if (locked.folder !== undefined) await removeInstalled(folder, locked.folder);
  if (locked.envFile === undefined) return { section };
  if (purge) await rm(join(folder, locked.envFile), { force: true });
  return purge ? { section } : { section, envFile: locked.envFile };
}

/** Returns the values that the user gave when the server was added, for an update. */
export async function keptAnswers(name: string, { config }: Pick<ServerHome, "config">): Promise<ServerAnswers> {
  const { inputs = {}, secrets = {}, envFile } = (await readLock(config))[name] ?? {};
  const values = envFile === undefined ? {} : readEnv((await readText(join(dirname(config), envFile))) ?? "");
  const hidden = Object.entries(secrets).flatMap(([key, variable]) => {
    const value = values[variable];
    return value === undefined ? [] : [[key, value] as const];
  });
  return { ...inputs, ...Object.fromEntries(hidden) };
}

/** Removes only folders that `add` creates, because a lock file may come with a cloned repository. */
async function removeInstalled(folder: string, installed: string): Promise<void> {
  const root = `${PRIVATE_FOLDER}/servers/`;
  const isOurs =
    installed.startsWith(root) && /^[\w-]+\/[\w.+-]+$/.test(installed.slice(root.length)) && !installed.includes("..");
  if (!isOurs) return;
  await rm(join(folder, installed), { recursive: true, force: true });
  await rmdir(dirname(join(folder, installed))).catch(() => {});
}

/** Runs commands that edit the same configuration one after another. */
function alone<Value>(config: string, work: () => Promise<Value>): Promise<Value> {
  return withFileLock(join(dirname(config), PRIVATE_FOLDER, "servers.lock"), work);
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

async function replaceKeepingMode(path: string, text: string): Promise<void> {
  const before = await stat(path).catch(() => undefined);
  await replaceFile(path, text);
  if (before !== undefined) await chmod(path, before.mode & 0o777);
}
