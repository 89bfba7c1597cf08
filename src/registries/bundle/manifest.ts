import { checkOf } from "../../tool/shape/check.ts";
import {
  choice,
  flag,
  type InputOf,
  list,
  number,
  openEntry,
  schema,
  string,
  strings,
  text,
  texts,
} from "../../tool/shape/shape.ts";
import { showValue } from "../../errors/show-value.ts";
import { fixable } from "../../errors/arsenal-error.ts";

const COMMAND = {
  command: text("The program."),
  args: strings("Its arguments."),
  env: texts("Its environment."),
};

const USER_CONFIG = openEntry(
  "A value that the user gives.",
  {
    type: choice("Its type.", ["string", "number", "boolean", "directory", "file"]),
    title: string("Its name for people."),
    description: string("Its meaning."),
    required: flag("Whether the server needs it."),
    default: schema<string | number | boolean | readonly string[]>({}),
    multiple: flag("Whether several are given."),
    sensitive: flag("Whether it is a secret."),
    min: number("The least number."),
    max: number("The greatest number."),
  },
  ["type"],
);
export type UserConfig = InputOf<typeof USER_CONFIG>;

const MANIFEST = openEntry(
  "The manifest of a bundle.",
  {
    manifest_version: string("The version of the format."),
    dxt_version: string("The version of the format, in old bundles."),
    name: text("The bundle's name."),
    display_name: string("Its name for people."),
    version: text("Its version."),
    description: string("Its purpose."),
    author: openEntry("Its author.", { name: string("The name.") }),
    repository: openEntry("Its source code.", { url: string("The address.") }),
    server: openEntry(
      "How to start it.",
      {
        type: choice("Its runtime.", ["node", "python", "binary", "uv"]),
        entry_point: text("The main file."),
        mcp_config: openEntry("The command.", {
          ...COMMAND,
          platform_overrides: schema<Readonly<Record<string, Partial<BundleCommand>>>>({ type: "object" }),
        }),
      },
      ["type", "entry_point"],
    ),
    user_config: schema<Readonly<Record<string, UserConfig>>>({ type: "object" }),
    compatibility: openEntry("What it needs.", {
      platforms: strings("Operating systems."),
      runtimes: openEntry("Runtimes.", { node: string("Node versions."), python: string("Python versions.") }),
    }),
    tools: list("Its tools.", openEntry("A tool.", { name: string("Its name."), description: string("Its purpose.") })),
  },
  ["name", "version", "server"],
);

/** The manifest of an MCPB bundle. Everything in it is untrusted. */
export type BundleManifest = InputOf<typeof MANIFEST>;

export interface BundleCommand {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const MAX_BYTES = 1024 * 1024;

/** Reads the manifest of a bundle. Throws INPUT_INVALID with the field and the fix. */
export function readManifest(bytes: Buffer): BundleManifest {
  const invalid = (field: string, message: string, fix: string): never => {
    throw fixable("INPUT_INVALID", `manifest.json of the bundle: ${field} ${message}.`, fix, { field });
  };
  if (bytes.length > MAX_BYTES) invalid("the file", `has ${bytes.length} bytes, more than ${MAX_BYTES}`, "Shorten it.");
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  } catch {
    invalid("the file", "is not JSON", "Ask its author for a valid bundle.");
  }
  checkOf(MANIFEST)(value, "", (field, _value, message, fix) =>
    invalid(field === "" ? "the file" : field, message, fix),
  );
  const manifest = value as BundleManifest;
  for (const [key, config] of Object.entries(manifest.user_config ?? {})) {
    if (!/^[A-Za-z_][\w-]{0,63}$/.test(key))
      invalid(`user_config.${key.slice(0, 40)}`, "is not a name", "Use letters.");
    checkOf(USER_CONFIG)(config, `user_config.${key}`, (field, _value, message, fix) => invalid(field, message, fix));
  }
  const override = openEntry("", COMMAND);
  for (const [platform, command] of Object.entries(manifest.server.mcp_config?.platform_overrides ?? {}))
    checkOf(override)(command, `platform_overrides.${platform}`, (field, _value, message, fix) =>
      invalid(field, message, fix),
    );
  const version = manifest.manifest_version ?? manifest.dxt_version ?? "";
  const [, major = "", minor = ""] = /^(\d+)\.(\d+)$/.exec(version) ?? [];
  if (major === "" || (major === "0" && Number(minor) < 3))
    invalid(
      "manifest_version",
      `is ${showValue(version)}, and 0.3 or newer is needed`,
      "Ask its author for a newer bundle.",
    );
  return manifest;
}
