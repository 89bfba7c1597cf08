import { entry, flag, folder, list, path, text, texts, whole } from "../../settings.ts";
import type { SecretReference } from "../../../guard/secrets/reference.ts";

/** Source files whose functions are tools. */
export interface ScriptsSettings {
  /** The ensemble's name, and the namespace of its tools unless `namespace` says another. Default `scripts`. */
  readonly name?: string;
  readonly namespace?: string;
  /** Files, folders, and patterns such as `tools/*.py`. Of a folder, the TypeScript, JavaScript, Python and bash files right inside it. */
  readonly paths: readonly string[];
  /** Environment variables of the tools, which get `PATH` and `LANG` besides. A value such as `env:NAME` refers to a secret. */
  readonly env?: Readonly<Record<string, SecretReference | string>>;
  /** The folder that tools run in. Defaults to the folder of their file. */
  readonly cwd?: string;
  /** Command or path of Python 3.9 or newer. Default `python3`. */
  readonly python?: string;
  /** Command or path of bash. Default `bash`. */
  readonly bash?: string;
  /** Time one call may take, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number;
  /** Bytes of memory one call may take, its runtime included. Default 1 GiB. */
  readonly maxMemoryBytes?: number;
  /** Bytes that one call may print and return. Default 1 MiB. */
  readonly maxOutputBytes?: number;
  /** Calls at once. */
  readonly maxConcurrent?: number;
}

export const config = entry(
  "Source files whose functions are tools.",
  {
    name: text("The ensemble's name, and the namespace of its tools."),
    paths: list(
      "Files, folders, and patterns such as ./tools/*.py, from this file's folder.",
      path("A file, folder or pattern."),
    ),
    namespace: text("Another namespace for its tools."),
    env: texts("Environment variables of the tools; a value such as env:NAME refers to a secret."),
    cwd: folder("The folder that tools run in. Defaults to the folder of their file."),
    python: text("Command or path of Python 3.9 or newer; python3 by default."),
    bash: text("Command or path of bash; bash by default."),
    timeoutMs: whole("Time one call may take, in milliseconds; 60000 by default.", 1, 2_147_483_647),
    maxMemoryBytes: whole("Bytes of memory one call may take; 1073741824 by default.", 1_048_576, 1_099_511_627_776),
    maxOutputBytes: whole("Bytes that one call may print and return; 1048576 by default.", 1_024, 1_073_741_824),
    maxConcurrent: whole("Calls at once.", 1, 100_000),
    disabled: flag("Whether it is left out."),
  },
  ["name", "paths"],
);
