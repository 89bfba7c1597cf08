import { sandboxes } from "../../sandboxes/manifest.ts";
import { choice, folder, type InputOf, list, object, type Shape, text, whole } from "../../../tool/shape/shape.ts";
import type { Sandbox, SandboxLimits } from "../../../execute/sandbox.port.ts";
import type { Egress } from "../../../guard/egress/egress.ts";
import type { SecretReference } from "../../../guard/secrets/reference.ts";
import type { Secrets } from "../../../guard/secrets/secrets.ts";

/** Names of the built-in tools in a configuration. */
export const BUILTIN_TOOLS = ["web-search", "file-read", "file-write", "http-get", "code-execute"] as const;
export type BuiltinTool = (typeof BUILTIN_TOOLS)[number];

/** Optional dependencies of the built-in tools. */
export interface BuiltinParts {
  /** Defaults to an egress without rules. */
  readonly egress?: Egress;
  /** Where secrets are read from. Defaults to the environment, files and the keychain. */
  readonly secrets?: Secrets;
  /** The gateway's own files, folders and glob patterns, which file tools refuse. `arsenal.yaml`, `.env` and `.toolarsenal` are always refused. */
  readonly ownFiles?: readonly string[];
}

/** Excludes sandboxes in which a model's code could end this process. */
const CODE_SANDBOXES = Object.keys(sandboxes).filter(
  (name) => name !== "none" && name !== "subprocess",
) as readonly Exclude<keyof typeof sandboxes, "none" | "subprocess">[];

const API_KEY: Shape<SecretReference, SecretReference, true> = {
  description: "Secret reference to the API key for Tavily, never the key itself. It is resolved with each call.",
  type: "string",
  minLength: 1,
  default: "env:TAVILY_API_KEY",
};

export const config = object("The tools that ship with the package.", {
  name: text("Name of the ensemble, and namespace of the tools. Defaults to builtin."),
  tools: list("The tools to enable.", choice("A tool.", BUILTIN_TOOLS), []),
  webSearch: object("Settings of web-search.", {
    apiKey: API_KEY,
    url: text("URL of the API, instead of Tavily's. It may be on this machine or in a private network."),
  }),
  files: object("Settings of file-read and file-write.", {
    roots: list(
      "Folders in which file-read and file-write may read and write files. Required if one of them is enabled.",
      folder("A folder."),
      [],
    ),
    maxBytes: whole("Maximum size of a file, in bytes.", 1, 1_073_741_824, 1_048_576),
  }),
  http: object("Settings of http-get.", {
    allowedDomains: list("Domains that http-get may reach. Defaults to every public domain.", text("A domain.")),
    maxBytes: whole("Maximum size of a response, in bytes.", 1, 1_073_741_824, 1_048_576),
  }),
  code: object("Settings of code-execute.", {
    sandbox: choice(
      "Sandbox for code that a model wrote. subprocess is not offered, because code in it could kill the gateway.",
      CODE_SANDBOXES,
      "isolate",
    ),
  }),
});

type BuiltinInput = InputOf<typeof config>;

/** The built-in tools to offer, and their limits. Defaults to all tools. */
export interface BuiltinSettings extends Omit<BuiltinInput, "code"> {
  readonly code?: CodeSettings;
}

/** For `web-search`. */
export type WebSearchSettings = NonNullable<BuiltinInput["webSearch"]>;

/** For `file-read` and `file-write`. The roots default to the working directory. */
export type FileSettings = NonNullable<BuiltinInput["files"]>;

/** For `http-get`. */
export type HttpSettings = NonNullable<BuiltinInput["http"]>;

/** For `code-execute`. */
export interface CodeSettings {
  /**
   * Defaults to `isolateSandbox()`. Also `bubblewrapSandbox()`, `dockerSandbox()`, or a sandbox of your own. A model's code must not run in
   * `subprocessSandbox()` or `noSandbox()`.
   */
  readonly sandbox?: Sandbox;
  readonly limits?: Partial<SandboxLimits>;
}

/**
 * The tools that come with the package, for `arsenal.add`.
 *
 * @example
 * await arsenal.add(builtins({ tools: ["file-read"], files: { roots: ["./docs"] } }));
 */
export function builtins(settings: BuiltinInput = {}) {
  return { ...settings, type: "builtin" as const };
}
