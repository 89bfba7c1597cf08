import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ArsenalError, isArsenalError } from "../errors/arsenal-error.ts";
import { checkConfig } from "./check-config.ts";
import { readYaml } from "./read-yaml.ts";
import { foldShortForm, type ResolvedConfig } from "./resolve-config.ts";

/** A configuration file, read, filled in and checked. */
export interface LoadedConfig {
  /** The paths of its snapshot and cache are absolute. */
  readonly config: ResolvedConfig;
  /** The folder that relative paths in the file start from. */
  readonly folder: string;
}

/** Reads a YAML (or JSON) configuration file. Throws `CONFIG_INVALID` with file, line, key, value and fix. */
export async function loadConfig(
  path: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<LoadedConfig> {
  const source = await readFile(path, "utf8").catch((cause: unknown) => {
    const fix = "Check the path, or leave --config out.";
    throw new ArsenalError("CONFIG_INVALID", `The configuration file ${path} cannot be read. ${fix}`, {
      field: "config",
      value: path,
      fix,
      cause,
    });
  });
  const config = await parseConfig(source, path, environment);
  const folder = dirname(resolve(path));
  const { vectorStore, embedder } = config;
  const { snapshot } = vectorStore;
  const { cache } = embedder;
  return {
    config: {
      ...config,
      vectorStore: { ...vectorStore, ...(snapshot === undefined ? {} : { snapshot: resolve(folder, snapshot) }) },
      embedder: { ...embedder, ...(typeof cache === "string" ? { cache: resolve(folder, cache) } : {}) },
    },
    folder,
  };
}

/** Reads a configuration from its text; `name` stands in messages. */
export async function parseConfig(
  source: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ResolvedConfig> {
  try {
    const { value, origin } = await readYaml(source, name, environment);
    return foldShortForm(checkConfig(value, "snake", origin), "snake", origin);
  } catch (cause) {
    if (isArsenalError(cause)) throw cause;
    // Such as a nesting so deep that the parser runs out of stack, or a bomb of aliases.
    const fix = "Check its anchors and aliases, and write it with less nesting.";
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ArsenalError("CONFIG_INVALID", `${name}: the file cannot be read: ${reason}. ${fix}`, {
      field: name,
      fix,
      cause,
    });
  }
}
