import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { defaultCache } from "../../adapters/embedders/cache-folder.ts";
import { defaultTokenFile } from "../../adapters/sources/mcp/oauth/token-file.ts";
import { readReference, referencesIn } from "../../guard/secrets/reference.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { isLocal } from "../../adapters/sources/source-adapter.ts";
import { CONFIG_SCHEMA } from "../schema.ts";
import { alternativesOf, schemaOf } from "./check-config.ts";
import type { ResolvedConfig } from "./resolve-config.ts";
import { IN_MEMORY } from "./chosen-adapters.ts";

/** Files that are executed. They may load other files with the same extension from their folder. */
const CODE = /^\.(?:[cm]?[jt]s|py|sh|bash|toml)$/;

/**
 * Lists the files, folders and patterns that belong to a gateway: its configuration, environment, secrets, policy, keys, state, audit log, modules
 * and scripts, and the programs of its MCP servers. Tools may neither read nor change them.
 */
export function ownFiles(config: ResolvedConfig): readonly string[] {
  const { readFrom = [], approvals, modules, mcp, sources } = config;
  const folder = readFrom[0] === undefined ? resolve(".") : dirname(readFrom[0]);
  const started = ([...mcp.servers, ...sources] as readonly ProgramSettings[]).flatMap((each) => [
    each,
    ...(typeof each.transport === "object" ? [each.transport] : []),
  ]);
  const programs = started.flatMap(({ command = [], args = [], cwd = folder }) =>
    [command, args]
      .flat()
      .map((word) => resolve(cwd, word))
      .filter(isFile),
  );
  const own = [...pathsIn(config, CONFIG_SCHEMA), ...secretFilesIn(config), ...modules, ...programs];
  const folders = [join(folder, "node_modules"), dirname(defaultTokenFile()), defaultCache(process.env)];
  const stored = approvals?.file === undefined ? [] : [dirname(approvals.file)];
  const all = [...readFrom, ...own, ...stored, ...folders.filter((path) => path !== false)];
  return [...new Set(all.map((path) => withOthersOfItsKind(resolve(folder, path))))];
}

/** Lists the folders whose files tools may read, write or send. */
export function openFolders({ builtins, openapi, sources }: ResolvedConfig): readonly string[] {
  return ([builtins, ...openapi, ...sources] as readonly OpenFolders[]).flatMap(({ files, filesFrom }) => [
    ...(files?.roots ?? []),
    ...(filesFrom === undefined ? [] : [filesFrom]),
  ]);
}

/** Lists the open folders that contain the gateway's own files, with some of their names. Tools refuse these files, but they should be elsewhere. */
export function foldersWithOwnFiles(
  config: ResolvedConfig,
): readonly { readonly folder: string; readonly files: readonly string[] }[] {
  const own = ownFiles(config).filter((path) => basename(path).startsWith("*") || existsSync(path));
  return openFolders(config)
    .map((folder) => ({
      folder,
      files: own
        .map((path) => relative(folder, path))
        .filter((path) => path !== "" && !/^(?:\.\.|[/\\]|\w:)/.test(path)),
    }))
    .filter(({ files }) => files.length > 0);
}

/** Settings that can open folders to tools. */
interface OpenFolders {
  readonly files?: { readonly roots?: readonly string[] };
  readonly filesFrom?: string;
}

/** Settings that can name a program. */
interface ProgramSettings {
  readonly transport?: ProgramSettings | string;
  readonly command?: string | readonly string[];
  readonly args?: readonly string[];
  readonly cwd?: string;
}

function withOthersOfItsKind(path: string): string {
  const ending = extname(path);
  return CODE.test(ending) ? join(dirname(path), `*${ending}`) : path;
}

/** Lists every value of a setting that is a path. */
function pathsIn(value: unknown, schema: JsonSchema): readonly string[] {
  if (typeof value === "string") {
    const isPath = [schema, ...alternativesOf(schema)].some(({ format }) => format === "path");
    return isPath && value !== IN_MEMORY && isLocal(value) ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, (schema.items ?? {}) as JsonSchema));
  if (!isPlainObject(value)) return [];
  const { properties = {} } = schemaOf(schema, value);
  return Object.entries(value).flatMap(([key, member]) => pathsIn(member, (properties[key] ?? {}) as JsonSchema));
}

/** Lists the files that contain secrets. A file per caller becomes a pattern. */
function secretFilesIn(value: unknown): readonly string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(secretFilesIn);
  if (typeof value !== "string") return [];
  return referencesIn(value).flatMap((reference) => {
    const read = readReference(reference);
    return read?.kind === "file" ? [read.path.replace(/^~(?=\/)/, homedir())] : [];
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
