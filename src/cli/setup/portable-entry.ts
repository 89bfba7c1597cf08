import { existsSync } from "node:fs";
import { basename, isAbsolute, relative, resolve } from "node:path";
import { type ClientInput, inputVariable } from "../../config/clients/client-references.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { ServerEntry } from "./find-servers.ts";

/** The entry as it means the same in arsenal.yaml: paths start from its folder, and inputs with a default have it. */
export function portableEntry(
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
  return {
    ...written,
    ...(started === undefined ? {} : { cwd: place(started) }),
    ...(envFile === undefined ? {} : { envFile: Array.isArray(envFile) ? envFile.map(place) : place(envFile) }),
  };
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
