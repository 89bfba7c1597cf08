import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { defaultCache } from "../../adapters/embedders/cached.ts";
import { defaultTokenFile } from "../../adapters/sources/mcp/oauth/token-file.ts";
import { readReference, referencesIn } from "../../guard/secrets/reference.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { isLocalDocument } from "../api-config.ts";
import { CONFIG_SCHEMA } from "../schema.ts";
import type { ResolvedConfig } from "./resolve-config.ts";
import { IN_MEMORY } from "./state-type.ts";

/** Files that are run, and may load others of the same kind from their folder. */
const CODE = /^\.(?:[cm]?[jt]s|py|sh|bash|toml)$/;

/**
 * Lists the files, folders and patterns that a gateway is made of: its configuration, environment, secrets, policy, keys, state, audit log, modules
 * and scripts, and the programs of its MCP servers. No tool may read or change them.
 */
export function ownFiles(config: ResolvedConfig): readonly string[] {
  const { readFrom = [], approvals, modules, mcp } = config;
  const folder = readFrom[0] === undefined ? resolve(".") : dirname(readFrom[0]);
  const programs = mcp.servers.flatMap(({ command = [], args = [], cwd = folder }) =>
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

/** The folders open to tools that hold own files, with the names of some of these. Tools refuse the files, but the folders should not hold them. */
export function foldersWithOwnFiles(
  config: ResolvedConfig,
): readonly { readonly folder: string; readonly files: readonly string[] }[] {
  const { builtins, openapi } = config;
  const open = [...(builtins.files.roots ?? []), ...openapi.flatMap(({ filesFrom }) => filesFrom ?? [])];
  const own = ownFiles(config).filter((path) => basename(path).startsWith("*") || existsSync(path));
  return open
    .map((folder) => ({
      folder,
      files: own
        .map((path) => relative(folder, path))
        .filter((path) => path !== "" && !/^(?:\.\.|[/\\]|\w:)/.test(path)),
    }))
    .filter(({ files }) => files.length > 0);
}

function withOthersOfItsKind(path: string): string {
  const ending = extname(path);
  return CODE.test(ending) ? join(dirname(path), `*${ending}`) : path;
}

/** Every value of a setting that is a path. */
function pathsIn(value: unknown, { format, items, properties, anyOf }: JsonSchema): readonly string[] {
  if (typeof value === "string") {
    const choices = [{ format }, ...((anyOf as readonly JsonSchema[] | undefined) ?? [])];
    const isPath = choices.some((choice) => choice["format"] === "path");
    return isPath && value !== IN_MEMORY && isLocalDocument(value) ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, (items ?? {}) as JsonSchema));
  if (!isPlainObject(value) || properties === undefined) return [];
  return Object.entries(value).flatMap(([key, member]) => pathsIn(member, (properties[key] ?? {}) as JsonSchema));
}

/** The files that hold secrets. One that each caller has its own of is a pattern. */
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
