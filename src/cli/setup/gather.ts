import { existsSync } from "node:fs";
import { basename, isAbsolute, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { knownMembers } from "../../config/clients/client-config.ts";
import { type ClientInput, inputVariable } from "../../config/clients/client-references.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { present } from "../../tool/present.ts";
import { envFileName } from "./env-file.ts";
import type { FoundClient, ServerEntry } from "./find-clients.ts";
import { separateSecrets } from "./secrets.ts";

/** The folder beside arsenal.yaml that holds what git must not have. */
export const PRIVATE_FOLDER = ".toolarsenal";

/** A file with the secrets of one server. */
export interface EnvFile {
  readonly server: string;
  /** From the folder of arsenal.yaml. */
  readonly path: string;
  readonly values: Readonly<Record<string, string>>;
  /** Variables that no client's file has a value for, since VS Code asks for it. */
  readonly missing: readonly string[];
}

/** The servers of all clients, each once. */
export interface Gathered {
  /** As they go into arsenal.yaml. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly envFiles: readonly EnvFile[];
  /** Servers that share a name and differ, and what the later is called now. */
  readonly renamed: readonly { readonly client: string; readonly from: string; readonly to: string }[];
}

/** Brings the servers of several clients together. One that two clients share is there once; one that differs gets another name. */
export function gather(
  clients: readonly FoundClient[],
  options: { readonly inline: boolean; readonly folder: string },
): Gathered {
  const originals = new Map<string, ServerEntry>();
  const renamed: { client: string; from: string; to: string }[] = [];
  for (const { client, servers, workspace, inputs } of clients) {
    for (const [from, entry] of Object.entries(servers)) {
      const known = portableEntry(knownMembers(entry), { workspace, folder: options.folder, inputs });
      const to = freeName(from, client, known, originals);
      if (to !== from && !originals.has(to)) renamed.push({ client, from, to });
      originals.set(to, known);
    }
  }
  const envFiles: EnvFile[] = [];
  const servers = [...originals].map(([server, original]) => {
    if (options.inline) return [server, original] as const;
    const { entry, secrets } = separateSecrets(server, original);
    const missing = missingVariables(entry);
    if (Object.keys(secrets).length === 0 && missing.length === 0) return [server, entry] as const;
    const path = freePath(server, envFiles);
    envFiles.push({ server, path, values: secrets, missing });
    // A client's own env file comes first: what stood in the entry overrides it.
    const own = entry["envFile"] === undefined ? [] : [entry["envFile"]].flat();
    return [server, { ...entry, envFile: own.length === 0 ? path : [...own, path] }] as const;
  });
  return { servers: Object.fromEntries(servers), envFiles, renamed };
}

function freeName(from: string, client: string, entry: ServerEntry, taken: ReadonlyMap<string, ServerEntry>): string {
  const isFree = (name: string): boolean => !taken.has(name) || isDeepStrictEqual(taken.get(name), entry);
  const other = `${from}-${client.toLowerCase().replaceAll(" ", "-")}`;
  let name = isFree(from) ? from : other;
  for (let count = 2; !isFree(name); count++) name = `${other}-${count}`;
  return name;
}

function freePath(server: string, taken: readonly EnvFile[]): string {
  const name = envFileName(server);
  const isTaken = (path: string): boolean => taken.some((file) => file.path === path);
  let path = `${PRIVATE_FOLDER}/${name}`;
  for (let count = 2; isTaken(path); count++) path = `${PRIVATE_FOLDER}/${name.replace(/\.env$/, `-${count}.env`)}`;
  return path;
}

/** Variables that stand for inputs of VS Code without a default. */
function missingVariables(entry: ServerEntry): readonly string[] {
  const ids = JSON.stringify(entry).matchAll(/\$\{input:([^}]*)\}/g);
  return [...new Set(Array.from(ids, ([, id = ""]) => inputVariable(id)))];
}

/** The entry as it means the same in arsenal.yaml: paths start from its folder, and inputs with a default have it. */
function portableEntry(
  entry: ServerEntry,
  places: {
    /** The folder that paths in the entry start from, for clients that say which. */
    readonly workspace: string | undefined;
    /** The folder of arsenal.yaml. */
    readonly folder: string;
    readonly inputs: readonly ClientInput[];
  },
): ServerEntry {
  const { workspace, folder, inputs } = places;
  const moved = workspace !== undefined && resolve(workspace) !== resolve(folder);
  const reference = (text: string): string =>
    text.replaceAll(/\$\$\{|\$\{([^}]*)\}/g, (whole: string, inner: string | undefined) => {
      if (inner?.startsWith("input:") === true) {
        const id = inner.slice("input:".length);
        const given = inputs.find((input) => input.id === id)?.default;
        if (given === undefined) return whole;
        // A default with a brace in it would end the reference early.
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

/** Whether a program or one of its arguments is a path that starts from the client's folder. */
function startsFromWorkspace({ command, args }: ServerEntry, workspace: string): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string");
  return words.some((word, index) => {
    if (word === "" || isAbsolute(word) || word.startsWith("-")) return false;
    // A bare name of a program is looked up in PATH.
    if (index === 0 && !/[\\/]/.test(word)) return false;
    return !relative(workspace, resolve(workspace, word)).startsWith("..") && existsSync(resolve(workspace, word));
  });
}

/** A copy with every text of it changed. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapTexts(member, change)]));
}
