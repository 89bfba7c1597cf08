import { entry, folder, type InputOf, list, path, text, whole } from "../../../tool/shape/shape.ts";
import { secretTexts } from "../credentials/settings.ts";

export const config = entry(
  "Source files whose functions are tools.",
  {
    name: text("The ensemble's name, and the namespace of its tools; scripts by default."),
    paths: list(
      "Files, folders, and patterns such as ./tools/*.py. Of a folder, the TypeScript, JavaScript, Python and bash files right inside it.",
      path("A file, folder or pattern."),
    ),
    namespace: text("Another namespace for its tools."),
    env: secretTexts(
      "Environment variables of the tools, which get PATH and LANG besides; a value such as env:NAME refers to a secret.",
    ),
    cwd: folder("The folder that tools run in. Defaults to the folder of their file."),
    python: text("Command or path of Python 3.9 or newer; python3 by default."),
    bash: text("Command or path of bash; bash by default."),
    timeoutMs: whole("Time one call may take, in milliseconds; 60000 by default.", 1, 2_147_483_647),
    maxMemoryBytes: whole("Bytes of memory one call may take; 1073741824 by default.", 1_048_576, 1_099_511_627_776),
    maxOutputBytes: whole("Bytes that one call may print and return; 1048576 by default.", 1_024, 1_073_741_824),
    maxConcurrent: whole("Calls at once.", 1, 100_000),
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
