import { entry, folder, type InputOf, list, path, text, whole } from "../../../tool/shape/shape.ts";
import { secretTexts } from "../credentials/settings.ts";

export const config = entry(
  "Source files whose functions are tools.",
  {
    name: text("Name of the ensemble, and namespace of its tools. Defaults to scripts."),
    paths: list(
      "Files, folders, and patterns such as ./tools/*.py. A folder means the TypeScript, JavaScript, Python and bash files in it, without subfolders.",
      path("A file, folder or pattern."),
    ),
    namespace: text("Namespace of the tools. Defaults to the ensemble's name."),
    env: secretTexts(
      "Environment variables of the tools, in addition to PATH and LANG. A value may be a secret reference such as env:NAME.",
    ),
    cwd: folder("Working directory of the tools. Defaults to the folder of each tool's file."),
    python: text("Command or path of Python 3.9 or newer. Defaults to python3."),
    bash: text("Command or path of bash. Defaults to bash."),
    timeoutMs: whole("Timeout of one call, in milliseconds. Defaults to 60000.", 1, 2_147_483_647),
    maxMemoryBytes: whole(
      "Maximum memory of one call, in bytes. Defaults to 1073741824.",
      1_048_576,
      1_099_511_627_776,
    ),
    maxOutputBytes: whole(
      "Maximum size of the output and the result of one call, in bytes. Defaults to 1048576.",
      1_024,
      1_073_741_824,
    ),
    maxConcurrent: whole(
      "Maximum number of concurrent calls. Defaults to execution.max_concurrent_per_ensemble.",
      1,
      100_000,
    ),
  },
  ["paths"],
);

/** Source files whose functions are tools. */
export type ScriptsSettings = InputOf<typeof config>;

/**
 * Adds the functions of source files, for `arsenal.add`: a file, folder or pattern, or settings.
 *
 * @example
 * await arsenal.add(scripts("./tools"));
 */
export function scripts(given: string | ScriptsSettings) {
  return { ...(typeof given === "string" ? { paths: [given] } : given), type: "scripts" as const };
}
