import { existsSync } from "node:fs";
import { basename, isAbsolute, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { knownMembers } from "../../config/clients/client-config.ts";
import { inputVariable } from "../../config/clients/client-references.ts";
import { present } from "../../base/present.ts";
import { mapTexts } from "./map-texts.ts";
import { envFileName } from "./env-file.ts";
import type { ServerEntry } from "./entry-styles.ts";
import type { FoundClient } from "./find-clients.ts";
import { separateSecrets } from "./secrets.ts";

/** The folder next to arsenal.yaml for files that must not be committed. */
export const PRIVATE_FOLDER = ".toolarsenal";

export interface EnvFile {
  readonly server: string;
  /** The path relative to the folder of arsenal.yaml. */
  readonly path: string;
  readonly values: Readonly<Record<string, string>>;
  /** Variables that have no value in the clients' files, because VS Code prompts for them. */
  readonly missing: readonly string[];
}

export type GatheredServers = ReturnType<typeof gather>;

/** Merges the servers of several clients. Equal servers appear once; a different server with the same name gets another name. */
export function gather(
  clients: readonly FoundClient[],
  options: { readonly inline: boolean; readonly folder: string },
) {
  const originals = new Map<string, ServerEntry>();
  const renamed: { client: string; from: string; to: string }[] = [];
  const ofClients = new Map<string, readonly string[]>();
  for (const found of clients) {
    const { client } = found;
    const names: string[] = [];
    ofClients.set(found.toolset, names);
    for (const [from, entry] of Object.entries(found.servers)) {
      const known = portableEntry(knownMembers(entry), found, options.folder);
      const isFree = (name: string): boolean => {
        const original = originals.get(name);
        return original === undefined || isDeepStrictEqual(withoutUsualType(original), withoutUsualType(known));
      };
      const to = isFree(from) ? from : firstFree(`${from}-${client.toLowerCase().replaceAll(" ", "-")}`, isFree);
      if (to !== from && !originals.has(to)) renamed.push({ client, from, to });
      if (!originals.has(to)) originals.set(to, known);
      names.push(to);
    }
  }
  const envFiles: EnvFile[] = [];
  const servers = [...originals].map(([server, original]) => {
    if (options.inline) return [server, original] as const;
    const { entry, secrets } = separateSecrets(server, original);
    const missing = missingVariables(entry);
    if (Object.keys(secrets).length === 0 && missing.length === 0) return [server, entry] as const;
    const isFree = (name: string): boolean => !envFiles.some((file) => file.path === `${PRIVATE_FOLDER}/${name}.env`);
    const path = `${PRIVATE_FOLDER}/${firstFree(envFileName(server), isFree)}.env`;
    envFiles.push({ server, path, values: secrets, missing });
    // A client's own env file comes first, so that the entry's values override it.
    const own = entry["envFile"] === undefined ? [] : [entry["envFile"]].flat();
    return [server, { ...entry, envFile: own.length === 0 ? path : [...own, path] }] as const;
  });
  return {
    servers: Object.fromEntries(servers) as Readonly<Record<string, ServerEntry>>,
    envFiles,
    /** Servers that were renamed because another server had the same name. */
    renamed,
    /** The names of each client's servers, by the client's toolset. */
    ofClients: ofClients as ReadonlyMap<string, readonly string[]>,
  };
}

/** Removes a type that is implied by the command or address. Of all clients, only VS Code writes it. */
function withoutUsualType(entry: ServerEntry): ServerEntry {
  const { type, ...rest } = entry;
  const usual = entry["command"] === undefined ? ["http", "streamable-http"] : ["stdio"];
  return usual.includes(String(type)) ? rest : entry;
}

function firstFree(name: string, isFree: (name: string) => boolean): string {
  let free = name;
  for (let count = 2; !isFree(free); count++) free = `${name}-${count}`;
  return free;
}

/** Lists variables for VS Code inputs that have no default. */
function missingVariables(entry: ServerEntry): readonly string[] {
  const ids = JSON.stringify(entry).matchAll(/\$\{input:([^}]*)\}/g);
  return [...new Set(Array.from(ids, ([, id = ""]) => inputVariable(id)))];
}

/** Converts the entry for arsenal.yaml in `folder`: paths become relative to it, and inputs become references with their default. */
function portableEntry(entry: ServerEntry, { workspace, inputs }: FoundClient, folder: string): ServerEntry {
  const moved = workspace !== undefined && resolve(workspace) !== resolve(folder);
  const reference = (text: string): string =>
    text.replaceAll(/\$\$\{|\$\{([^}]*)\}/g, (whole: string, inner: string | undefined) => {
      if (inner?.startsWith("input:") === true) {
        const id = inner.slice("input:".length);
        const given = inputs.find((input) => input.id === id)?.default;
        if (given === undefined) return whole;
        // A brace in a default would end the reference too early.
        return /[{}]/.test(given) ? given.replaceAll("${", () => "$${") : `\${${inputVariable(id)}:-${given}}`;
      }
      if (moved && inner === "workspaceFolder") return workspace;
      return moved && inner === "workspaceFolderBasename" ? basename(workspace) : whole;
    });
  const written = mapTexts(entry, reference) as ServerEntry;
  if (workspace === undefined) return written;

  const place = (path: unknown): unknown => {
    if (!moved || typeof path !== "string" || isAbsolute(path) || /^\$\{|^~/.test(path)) return path;
    return resolve(workspace, path);
  };
  const { cwd, envFile } = written;
  const started = cwd ?? (startsFromWorkspace(written, workspace) ? "." : undefined);
  const files = Array.isArray(envFile) ? envFile.map(place) : place(envFile);
  return { ...written, ...present({ cwd: place(started), envFile: files }) };
}

/** Returns whether the program or an argument is a path relative to the client's folder. */
function startsFromWorkspace({ command, args }: ServerEntry, workspace: string): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string");
  return words.some((word, index) => {
    if (word === "" || isAbsolute(word) || word.startsWith("-")) return false;
    // A program name without a path is looked up in PATH.
    if (index === 0 && !/[\\/]/.test(word)) return false;
    return !relative(workspace, resolve(workspace, word)).startsWith("..") && existsSync(resolve(workspace, word));
  });
}
