import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { RegistrySettings } from "../../config/sections.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { messageOf, showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { compareVersions } from "./compare-versions.ts";
import type { Registry } from "./registry.ts";
import { readEntry, type RegistryEntry } from "./server-json.ts";

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 5_000;

/** Opens a registry in a JSON file, or in a folder with one document per file. It is read again for every request. */
export function fileRegistry(settings: RegistrySettings): Registry {
  const { name, file, folder = "", allowPrivate = false, packageHosts = [] } = settings;
  const location = file ?? folder;

  async function readAll() {
    const files = file === undefined ? await filesIn(folder) : [file];
    const entries: RegistryEntry[] = [];
    const remarks: string[] = [];
    for (const path of files) {
      for (const document of documentsIn(await readJson(path, name))) {
        const read = readEntry(document, name);
        if ("server" in read) entries.push(read);
        else remarks.push(`${name}: ${path} is left out: ${read.field} ${read.message}.`);
      }
    }
    return {
      entries: entries.sort((one, other) => compareVersions(other.server.version, one.server.version)),
      remarks,
    };
  }

  async function filesIn(path: string): Promise<readonly string[]> {
    const names = await readdir(path).catch((error: unknown) => {
      throw unreadable(name, path, error);
    });
    return names
      .filter((each) => each.endsWith(".json"))
      .sort()
      .slice(0, MAX_FILES)
      .map((each) => join(path, each));
  }

  return {
    name,
    location,
    allowPrivate,
    packageHosts,
    async list() {
      const { entries, remarks } = await readAll();
      const latest = new Map<string, RegistryEntry>();
      for (const entry of entries) if (!latest.has(entry.server.name)) latest.set(entry.server.name, entry);
      return { entries: [...latest.values()], remarks };
    },
    async get(server, version) {
      const { entries } = await readAll();
      return entries.find(
        (each) => each.server.name === server && (version ?? each.server.version) === each.server.version,
      );
    },
    async versions(server) {
      return (await readAll()).entries.filter((entry) => entry.server.name === server);
    },
  };
}

/** Reads a JSON file of a limited size. Throws SOURCE_UNAVAILABLE. */
export async function readJson(path: string, registry: string): Promise<unknown> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw new Error(`it has ${size} bytes, more than ${MAX_BYTES}`);
    return JSON.parse(await readFile(path, "utf8")) as unknown;
  } catch (error) {
    throw unreadable(registry, path, error);
  }
}

function unreadable(registry: string, path: string, cause: unknown): Error {
  const problem = `${path} of the registry ${showValue(registry)} cannot be read: ${messageOf(cause).replace(/\.$/, "")}.`;
  return fixable("SOURCE_UNAVAILABLE", problem, "Check the path and the JSON.", {
    field: "registry",
    value: path,
    cause,
  });
}

/** Returns the documents of a file: a response of the API, a list, or a single document. */
function documentsIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isPlainObject(value) && Array.isArray(value["servers"]) ? value["servers"] : [value];
}
