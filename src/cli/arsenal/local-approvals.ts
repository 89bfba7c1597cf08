import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadSqlite } from "../../adapters/state/load-sqlite.ts";
import { IN_MEMORY, stateType } from "../../config/load/state-type.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import type { Terminal } from "../command.ts";
import { PROGRAM } from "../program.ts";

type Place = Pick<Terminal, "environment" | "folder">;

/** The configuration for the person at this machine: they may approve their own calls unless callers must prove who they are, and `toolarsenal approvals` finds the calls that wait. */
export function forOperator(config: ResolvedConfig, place: Place, configFile?: string): ResolvedConfig {
  const { security } = config;
  const selfApproval = security.selfApproval ?? (isIdentified(config, place) ? "never" : "local");
  const approvals = approvalsOf(config, place, configFile);
  return {
    ...config,
    security: { ...security, selfApproval },
    ...(approvals === undefined ? {} : { approvals }),
  };
}

/** Where `approvals` looks: in the configured state unless that is memory, and in this user's approval files. Undefined if approvals stay in memory. */
export function approvalPlaces(
  { state }: ResolvedConfig,
  { environment }: Place,
): { readonly configured: boolean; readonly files: readonly string[] } | undefined {
  if (staysInMemory(state)) return undefined;
  const configured = stateType(state) !== "memory";
  const folder = approvalsFolder(environment);
  if (folder === undefined) return configured ? { configured, files: [] } : undefined;
  return { configured, files: approvalFiles(folder) };
}

function approvalFiles(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".sqlite")) : [];
  return names.toSorted().map((name) => join(folder, name));
}

/** True if the configuration asks for approvals to be kept in memory, too. */
function staysInMemory(state: ResolvedConfig["state"]): boolean {
  return state.file === IN_MEMORY && stateType(state) === "memory";
}

function isIdentified({ server: { tokens, auth = {} } }: ResolvedConfig, { environment }: Place): boolean {
  return (environment["TOOLARSENAL_TOKEN"] ?? "") !== "" || Object.keys({ ...tokens, ...auth }).length > 0;
}

function approvalsOf(config: ResolvedConfig, place: Place, configFile?: string): ResolvedConfig["approvals"] {
  if (staysInMemory(config.state)) return undefined;
  const approve = `${PROGRAM} approvals approve`;
  if (stateType(config.state) !== "memory")
    return { command: configFile === undefined ? approve : `${approve} --config ${quoted(configFile)}` };
  const folder = approvalsFolder(place.environment);
  if (folder === undefined) return undefined;
  // An approval is good only for the servers it was asked for. Two configurations may have tools that look the same. The model is not part of that.
  const { llm: _llm, ...rest } = config;
  const asked = createHash("sha256")
    .update(JSON.stringify([place.folder, configFile, rest]))
    .digest("hex");
  return { file: join(folder, `${asked.slice(0, 16)}.sqlite`), command: approve };
}

/** Where approvals are kept without a state. Undefined if this user has no home folder that can be written to. */
export function approvalsFolder({ HOME, USERPROFILE }: Terminal["environment"]): string | undefined {
  const home = HOME || USERPROFILE;
  if (!home) return undefined;
  const folder = join(home, ".toolarsenal", "approvals");
  const nearest = [folder, join(home, ".toolarsenal"), home].find((path) => existsSync(path)) ?? home;
  try {
    accessSync(nearest, constants.W_OK);
    return folder;
  } catch {
    return undefined;
  }
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w./\\:~-]+$/.test(path) ? path : `"${path}"`;
}

/** Longer than any approval can be open and remembered, which is two weeks. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1_000;

/** Removes approval files that nobody has used for a long time. Keeps those that it cannot read or remove. */
export function pruneApprovals(environment: Terminal["environment"]): void {
  const folder = approvalsFolder(environment);
  let files: readonly string[] = [];
  try {
    if (folder !== undefined) files = approvalFiles(folder);
  } catch {
    // The folder cannot be listed. That must not end a gateway.
  }
  for (const file of files) {
    try {
      const log = `${file}-wal`;
      const written = [file, log].map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (Date.now() - Math.max(...written) < KEEP_MS || isOpen(file)) continue;
      for (const part of [file, log, `${file}-shm`]) rmSync(part, { force: true });
    } catch {
      // Another process removed it, or it is somebody else's.
    }
  }
}

/** True if a process has the file open: SQLite gives up its log only for the last one. */
function isOpen(file: string): boolean {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    return database.prepare("PRAGMA journal_mode = DELETE").get()?.["journal_mode"] !== "delete";
  } catch {
    return true;
  } finally {
    database.close();
  }
}
