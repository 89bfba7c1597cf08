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
  description: "A reference to the key of the Tavily API, never the key itself. Looked up with each call.",
  type: "string",
  minLength: 1,
  default: "env:TAVILY_API_KEY",
};

export const config = object("The tools that come with the package.", {
  name: text("The ensemble's name, and the namespace of the tools; builtin by default."),
  tools: list("Which of them to enable.", choice("A tool.", BUILTIN_TOOLS), []),
  webSearch: object("For web-search.", {
    apiKey: API_KEY,
    url: text("Another address of the API. It may be on this machine or a private network."),
  }),
  files: object("For file-read and file-write.", {
    roots: list("Folders that files may be read and written in. Required for these tools.", folder("A folder."), []),
    maxBytes: whole("Largest file, in bytes.", 1, 1_073_741_824, 1_048_576),
  }),
  http: object("For http-get.", {
    allowedDomains: list("Domains it may reach. Defaults to any public one.", text("A domain.")),
    maxBytes: whole("Largest response, in bytes.", 1, 1_073_741_824, 1_048_576),
  }),
  code: object("For code-execute.", {
    sandbox: choice(
      "Where code that a model wrote runs. Not in subprocess: code there can end the gateway.",
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
