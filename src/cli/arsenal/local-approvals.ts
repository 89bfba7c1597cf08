import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { IN_MEMORY } from "../../config/parts/arsenal-parts.ts";
import { asChecked, type ResolvedConfig } from "../../config/load/resolve-config.ts";
import type { Terminal } from "../command.ts";
import { PROGRAM } from "../program.ts";

type Place = Pick<Terminal, "environment" | "folder">;

/**
 * The configuration as the command line uses it. The person at this machine may approve their own calls unless callers prove who they are, and
 * calls that wait are kept where `toolarsenal approvals` finds them, even without `state.file`. `configFile` is the absolute path of the file
 * that the configuration was read from.
 */
export function forOperator(config: ResolvedConfig, place: Place, configFile?: string): ResolvedConfig {
  const { security } = config;
  const selfApproval = security.selfApproval ?? (isIdentified(config, place) ? "never" : "local");
  const approvals = approvalsOf(config, place, configFile);
  return asChecked({
    ...config,
    security: { ...security, selfApproval },
    ...(approvals === undefined ? {} : { approvals }),
  });
}

/**
 * The files in which `toolarsenal approvals` looks for calls that wait: the one that the configuration names, and those of this user's gateways
 * whose configurations name none. Undefined if approvals are kept in memory.
 */
export function approvalFiles({ state }: ResolvedConfig, { environment }: Place): readonly string[] | undefined {
  if (state.file === IN_MEMORY) return undefined;
  const folder = approvalsFolder(environment);
  const configured = state.file === undefined ? [] : [state.file];
  if (folder === undefined) return state.file === undefined ? undefined : configured;
  if (!existsSync(folder)) return configured;
  const names = readdirSync(folder).filter((name) => name.endsWith(".sqlite"));
  return [...configured, ...names.toSorted().map((name) => join(folder, name))];
}

function isIdentified({ server: { tokens, auth = {} } }: ResolvedConfig, { environment }: Place): boolean {
  return (environment["TOOLARSENAL_TOKEN"] ?? "") !== "" || Object.keys({ ...tokens, ...auth }).length > 0;
}

function approvalsOf(config: ResolvedConfig, place: Place, configFile?: string): ResolvedConfig["approvals"] {
  const { file: stateFile } = config.state;
  if (stateFile === IN_MEMORY) return undefined;
  const approve = `${PROGRAM} approvals approve`;
  if (stateFile !== undefined)
    return { command: configFile === undefined ? approve : `${approve} --config ${quoted(configFile)}` };
  const folder = approvalsFolder(place.environment);
  if (folder === undefined) return undefined;
  // An approval is good only for the servers it was asked for. Two configurations may have tools that look the same.
  const asked = createHash("sha256")
    .update(JSON.stringify([place.folder, configFile, config]))
    .digest("hex");
  return { file: join(folder, `${asked.slice(0, 16)}.sqlite`), command: approve };
}

/** Undefined if this user has no home folder that can be written to. */
function approvalsFolder({ HOME, USERPROFILE }: Terminal["environment"]): string | undefined {
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
