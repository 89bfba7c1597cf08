import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Document } from "yaml";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { checkConfig } from "./check-config.ts";
import { fillReferences, hasReference } from "./environment.ts";
import { foldShortForm, type ResolvedConfig } from "./resolve-config.ts";

/** A configuration file, read, filled in and checked. */
export interface LoadedConfig {
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
    throw new ArsenalError(
      "CONFIG_INVALID",
      `The configuration file ${path} cannot be read. Check the path, or leave --config out.`,
      {
        field: "config",
        value: path,
        fix: "Check the path.",
        cause,
      },
    );
  });
  return { config: await parseConfig(source, path, environment), folder: dirname(resolve(path)) };
}

/** Reads a configuration from its text; `name` stands in messages. */
export async function parseConfig(
  source: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ResolvedConfig> {
  const { LineCounter, parse, parseDocument, visit } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, merge: true });
  const at = (offset: number | undefined): string => {
    const position = lines.linePos(offset ?? 0);
    return `${name}:${position.line}:${position.col} `;
  };
  const [broken] = document.errors;
  if (broken) {
    const reason = broken.message.split("\n")[0] ?? "not YAML";
    throw new ArsenalError("CONFIG_INVALID", `${at(broken.pos[0])}${reason}`, {
      field: name,
      fix: "Mend the YAML at that line.",
      cause: broken,
    });
  }
  visit(document, {
    Scalar(key, node) {
      if (key === "key" || typeof node.value !== "string" || !hasReference(node.value)) return;
      const original = node.value;
      const filled = fillReferences(original, environment, at(node.range?.[0]).trimEnd());
      // An unquoted reference that is the whole value may stand for a number or a flag.
      const whole = node.type === "PLAIN" && /^\$\{[^}]*\}$/.test(original);
      const scalar: unknown = whole && /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(filled) ? parse(filled) : filled;
      node.value = scalar;
    },
  });
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  return foldShortForm(
    checkConfig(value, "snake", (path) => at(offsetOf(document, path))),
    "snake",
  );
}

/** Where in the file a key stands, or its nearest parent that is there. */
function offsetOf(document: Document, path: readonly string[]): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    if (parent && typeof parent === "object" && "items" in parent && Array.isArray(parent.items)) {
      for (const [index, item] of parent.items.entries()) {
        const node: unknown = item?.key ?? (String(index) === last ? item : undefined);
        if (
          node &&
          typeof node === "object" &&
          "range" in node &&
          (item?.key === undefined || String(item.key) === last)
        ) {
          return (node.range as readonly number[] | undefined)?.[0];
        }
      }
    }
  }
  return undefined;
}
