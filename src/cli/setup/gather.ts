import { isDeepStrictEqual } from "node:util";
import { knownMembers } from "../../config/clients/client-config.ts";
import { inputVariable } from "../../config/clients/client-references.ts";
import { envFileName } from "./env-file.ts";
import type { FoundClient, ServerEntry } from "./find-servers.ts";
import { portableEntry } from "./portable-entry.ts";
import { separateSecrets, withoutSecrets } from "./secrets.ts";

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
  /** The same, as they may be shown. */
  readonly shown: Readonly<Record<string, ServerEntry>>;
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
  const shown = servers.map(([name, entry]) => [name, withoutSecrets(entry)]);
  return { servers: Object.fromEntries(servers), shown: Object.fromEntries(shown), envFiles, renamed };
}

function freeName(from: string, client: string, entry: ServerEntry, taken: ReadonlyMap<string, ServerEntry>): string {
  const isFree = (name: string): boolean => !taken.has(name) || isDeepStrictEqual(taken.get(name), entry);
  const other = `${from}-${client.toLowerCase().replaceAll(" ", "-")}`;
  if (isFree(from) || isFree(other)) return isFree(from) ? from : other;
  let count = 2;
  while (!isFree(`${other}-${count}`)) count++;
  return `${other}-${count}`;
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
