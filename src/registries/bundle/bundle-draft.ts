import { homedir } from "node:os";
import { join, sep } from "node:path";
import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { compareVersions } from "../read/compare-versions.ts";
import { type Danger, refusedServer } from "../entry/danger.ts";
import type { ServerInput, Template } from "../entry/inputs.ts";
import { checkText, checkVariable } from "../entry/texts.ts";
import type { ArgumentDraft, ServerDraft } from "../install/draft.ts";
import type { BundleCommand, BundleManifest, UserConfig } from "./manifest.ts";

export interface BundleMachine {
  readonly platform: string;
  readonly nodeVersion: string;
  readonly home?: string;
}

const THIS_MACHINE: BundleMachine = { platform: process.platform, nodeVersion: process.versions.node };

/** Variables that may contain folders, but only folders inside the bundle. */
const LIBRARY_PATHS = /^(?:PYTHONPATH|NODE_PATH|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH)$/;

/**
 * Returns the command of a bundle for this platform, and its inputs. Throws SERVER_REFUSED for a command that runs anything except the bundle's own
 * files, and SOURCE_UNAVAILABLE for a bundle that cannot run here.
 */
export function bundleDraft(
  manifest: BundleManifest,
  files: ReadonlySet<string>,
  machine: BundleMachine = THIS_MACHINE,
): { readonly inputs: readonly ServerInput[]; draft(folder: string): ServerDraft } {
  checkCompatibility(manifest, machine);
  const { server, user_config: settings = {} } = manifest;
  const entryPoint = insidePath(server.entry_point);
  const dangers: Danger[] = [];
  if (entryPoint === undefined || !files.has(entryPoint))
    dangers.push({
      field: "server.entry_point",
      reason: `is ${showValue(server.entry_point)}, which is not in the bundle`,
    });
  const command = commandFor(server, machine.platform);
  dangers.push(...checkCommand(command, manifest, files), ...checkSettings(settings));
  if (dangers.length > 0) throw refusedServer(`The bundle ${manifest.name}`, dangers);
  const home = machine.home ?? homedir();
  const words = (text: string, folder: string): Template => toTemplate(text, { folder, home });
  return {
    inputs: Object.entries(settings).map(([key, config]) => toInput(key, config, home)),
    draft: (folder) => ({
      command: programOf(command, server.type, folder),
      args: (command.args ?? []).map((text): ArgumentDraft => ({ template: words(text, folder) })),
      env: Object.fromEntries(Object.entries(command.env ?? {}).map(([name, text]) => [name, words(text, folder)])),
      cwd: folder,
    }),
  };
}

function checkCompatibility(
  { name, compatibility = {}, server }: BundleManifest,
  { platform, nodeVersion }: BundleMachine,
): void {
  const { platforms = [], runtimes = {} } = compatibility;
  const cannot = (reason: string, fix: string): never => {
    throw fixable("SOURCE_UNAVAILABLE", `The bundle ${showValue(name)} cannot run here: ${reason}.`, fix, {
      field: "bundle",
    });
  };
  if (platforms.length > 0 && !platforms.includes(platform))
    cannot(`it is for ${platforms.join(", ")}, and this is ${platform}`, "Ask its author for another bundle.");
  const [, least] = /^>=\s*([\d.]+)/.exec(runtimes.node ?? "") ?? [];
  if (server.type === "node" && least !== undefined && compareVersions(nodeVersion, least) < 0)
    cannot(`it needs Node ${runtimes.node}, and this is ${nodeVersion}`, "Update Node.");
}

/** Returns the command with the overrides for this platform. For bundles of the type uv, we build the command. */
function commandFor(
  { type, entry_point: entryPoint, mcp_config: config }: BundleManifest["server"],
  platform: string,
): BundleCommand {
  const standard: Readonly<Record<typeof type, BundleCommand>> = {
    node: { command: "node", args: [`\${__dirname}/${entryPoint}`] },
    python: { command: "python3", args: [`\${__dirname}/${entryPoint}`] },
    uv: { command: "uv", args: ["run", "--directory", "${__dirname}", entryPoint] },
    binary: { command: `\${__dirname}/${entryPoint}` },
  };
  const { command = standard[type].command, args, env, platform_overrides: overrides = {} } = config ?? {};
  const override = Object.hasOwn(overrides, platform) ? overrides[platform] : undefined;
  const own = args ?? (config?.command === undefined ? standard[type].args : undefined);
  const words = override?.args ?? own;
  return {
    command: override?.command ?? command,
    ...(words !== undefined && { args: words }),
    env: { ...env, ...override?.env },
  };
}

const PROGRAMS: Readonly<Record<BundleManifest["server"]["type"], readonly string[]>> = {
  node: ["node"],
  python: ["python", "python3"],
  uv: ["uv"],
  binary: [],
};

/** Checks that a bundle runs its own files: a file of the bundle with the program for its type, or a binary of the bundle. */
function checkCommand(
  { command, args = [], env = {} }: BundleCommand,
  { server, user_config: settings = {} }: BundleManifest,
  files: ReadonlySet<string>,
): readonly Danger[] {
  const field = "server.mcp_config";
  const dangers: Danger[] = [];
  const own = insidePath(command);
  if (PROGRAMS[server.type].includes(command)) {
    const script = insidePath(server.type === "uv" ? (args.at(-1) ?? "") : (args[0] ?? ""));
    if (script === undefined || !files.has(script))
      dangers.push({
        field: `${field}.args.0`,
        reason: `is ${showValue(args[0] ?? "")}, which is not a file of the bundle`,
      });
  } else if (own === undefined || !files.has(own))
    dangers.push({
      field: `${field}.command`,
      reason: `is ${showValue(command)}, which is neither a file of the bundle nor ${PROGRAMS[server.type].join(" or ") || "a program of its type"}`,
    });
  const known = new Set(Object.keys(settings));
  for (const [index, text] of args.entries()) dangers.push(...checkWords(text, `${field}.args.${index}`, known));
  for (const [name, text] of Object.entries(env)) {
    dangers.push(...checkWords(text, `${field}.env.${name}`, known));
    const isOwnPath = LIBRARY_PATHS.test(name) && text.split(/[:;]/).every((part) => insidePath(part) !== undefined);
    if (!isOwnPath) dangers.push(...checkVariable({ name }, `${field}.env.${name}`));
  }
  return dangers;
}

const VARIABLE = /\$\{([^}]*)\}/g;
const FOLDERS: readonly string[] = ["__dirname", "HOME", "DESKTOP", "DOCUMENTS", "DOWNLOADS", "pathSeparator", "/"];

/** Checks a text of the manifest. The fixed parts have the same rules as a registry's texts, and only variables of the bundle format are allowed. */
function checkWords(text: string, field: string, settings: ReadonlySet<string>): readonly Danger[] {
  for (const [written, inner = ""] of text.matchAll(VARIABLE)) {
    const isSetting = inner.startsWith("user_config.") && settings.has(inner.slice("user_config.".length));
    if (!isSetting && !FOLDERS.includes(inner))
      return [{ field, reason: `contains ${written}, which bundles do not have` }];
  }
  return checkText(text.replaceAll(VARIABLE, ""), field);
}

function checkSettings(settings: Readonly<Record<string, UserConfig>>): readonly Danger[] {
  const none = new Set<string>();
  return Object.entries(settings).flatMap(([key, { default: given }]) =>
    [given]
      .flat()
      .flatMap((each) => (typeof each === "string" ? checkWords(each, `user_config.${key}.default`, none) : [])),
  );
}

/** Converts a path to a path relative to the bundle's folder; undefined if it leads out of the bundle. */
function insidePath(text: string): string | undefined {
  const path = text.replace(/^\$\{__dirname\}(?:\/|\$\{\/\})/, "").replace(/^\.\//, "");
  const isInside = path !== "" && !/^[/~\\-]|^[A-Za-z]:|\\|\$\{|\0/.test(path) && !path.split("/").includes("..");
  return isInside ? path : undefined;
}

function programOf({ command }: BundleCommand, type: BundleManifest["server"]["type"], folder: string): string {
  if (PROGRAMS[type].includes(command)) return command;
  return `${folder}/${insidePath(command)}`;
}

/** Replaces the variables of the bundle format; inputs are kept. */
function toTemplate(text: string, { folder, home }: { readonly folder: string; readonly home: string }): Template {
  const values: Readonly<Record<string, string>> = {
    __dirname: folder,
    HOME: home,
    DESKTOP: join(home, "Desktop"),
    DOCUMENTS: join(home, "Documents"),
    DOWNLOADS: join(home, "Downloads"),
    pathSeparator: sep,
    "/": sep,
  };
  const parts: (string | { readonly input: string })[] = [];
  for (const [index, part] of text.split(VARIABLE).entries()) {
    if (index % 2 === 0) parts.push(part);
    else
      parts.push(part.startsWith("user_config.") ? { input: part.slice("user_config.".length) } : (values[part] ?? ""));
  }
  const filled = parts.filter((part) => part !== "");
  return filled.length === 0 ? [""] : filled;
}

const FORMATS = {
  string: "string",
  number: "number",
  boolean: "boolean",
  directory: "filepath",
  file: "filepath",
} as const;

function toInput(key: string, config: UserConfig, home: string): ServerInput {
  const { type, title, description, required = false, multiple = false, sensitive = false, min, max } = config;
  const words = [title, description].filter((each) => each !== undefined && each !== "").join(": ");
  const given = config.default;
  const fallback =
    given === undefined
      ? undefined
      : [given]
          .flat()
          .map((each) => toTemplate(String(each), { folder: "", home }).join(""))
          .join(",");
  return {
    key,
    ...(words !== "" && { description: words }),
    required,
    secret: sensitive,
    format: FORMATS[type],
    ...(fallback !== undefined && { default: fallback }),
    ...(multiple && { multiple }),
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
  };
}
