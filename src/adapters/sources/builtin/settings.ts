import { sandboxes } from "../../sandboxes/manifest.ts";
import { choice, folder, list, object, text, whole } from "../../settings.ts";
import type { Sandbox, SandboxLimits } from "../../../execute/sandbox.port.ts";
import type { Egress } from "../../../guard/egress/egress.ts";
import type { SecretReference } from "../../../guard/secrets/reference.ts";
import type { Secrets } from "../../../guard/secrets/secrets.ts";

/** The built-in tools, as a configuration names them. */
export const BUILTIN_TOOLS = ["web-search", "file-read", "file-write", "http-get", "code-execute"] as const;
export type BuiltinTool = (typeof BUILTIN_TOOLS)[number];

/** Which built-in tools there are, and what they may do. */
export interface BuiltinSettings {
  /** The ensemble's name, and the namespace of the tools. Default `builtin`. */
  readonly name?: string;
  /** Default all. */
  readonly tools?: readonly BuiltinTool[];
  readonly webSearch?: WebSearchSettings;
  readonly files?: FileSettings;
  readonly http?: HttpSettings;
  readonly code?: CodeSettings;
}

/** For `web-search`. */
export interface WebSearchSettings {
  /** Where the key of the Tavily API is. Looked up with each call. Default `env:TAVILY_API_KEY`. */
  readonly apiKey?: SecretReference;
  /** Where the API is, instead of api.tavily.com. It may be on this machine or a private network. */
  readonly url?: string;
}

/** For `file-read` and `file-write`. */
export interface FileSettings {
  /** Folders that files may be read and written in. Default the one the program was started in. */
  readonly roots?: readonly string[];
  /** Bytes of a file. Default 1 MiB. */
  readonly maxBytes?: number;
}

/** For `http-get`. */
export interface HttpSettings {
  /** `example.com` and `*.example.com` (all below it). Defaults to any public one. */
  readonly allowedDomains?: readonly string[];
  /** Bytes of an answer, decompressed. Default 1 MiB. */
  readonly maxBytes?: number;
}

/** For `code-execute`. */
export interface CodeSettings {
  /** `isolateSandbox()`, the default, `bubblewrapSandbox()`, `dockerSandbox()`, or a sandbox of your own. A model's code must not run in `subprocessSandbox()` or `noSandbox()`. */
  readonly sandbox?: Sandbox;
  readonly limits?: Partial<SandboxLimits>;
}

/** What the built-in tools can be given. */
export interface BuiltinParts {
  /** The way out of the program. Defaults to its own one. */
  readonly egress?: Egress;
  /** Where secrets are found. Defaults to the environment, files and the keychain. */
  readonly secrets?: Secrets;
  /** The gateway's own files, folders and patterns of files, which file tools refuse. `arsenal.yaml`, `.env` and `.toolarsenal` are refused in any case. */
  readonly ownFiles?: readonly string[];
}

/** A model's code must not run where it could end this program. */
const CODE_SANDBOXES = Object.keys(sandboxes).filter(
  (name) => name !== "none" && name !== "subprocess",
) as readonly Exclude<keyof typeof sandboxes, "none" | "subprocess">[];

export const config = object("The tools that come with the package.", {
  tools: list("Which of them to enable.", choice("A tool.", BUILTIN_TOOLS), []),
  webSearch: object("For web-search.", {
    apiKey: text("A reference to the key of the Tavily API, never the key itself.", "env:TAVILY_API_KEY"),
    url: text("Another address of the API."),
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
