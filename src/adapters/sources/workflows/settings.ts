import { entry, type InputOf, list, path, text, whole } from "../../../tool/shape/shape.ts";

export const config = entry(
  "Workflow files, each of which is a tool that calls other tools.",
  {
    name: text("The ensemble's name, and the namespace of its tools; workflows by default."),
    paths: list(
      "Files, folders, and patterns such as ./flows/*.yaml. Of a folder, the YAML, TypeScript and JavaScript files right inside it.",
      path("A file, folder or pattern."),
    ),
    namespace: text("Another namespace for its tools."),
    parallel: whole("Calls of one run at once; 8 by default.", 1, 64),
    maxConcurrent: whole("Runs at once.", 1, 100_000),
  },
  ["paths"],
);

/** Workflow files. Each is a tool that calls other tools. */
export type WorkflowsSettings = InputOf<typeof config>;

/**
 * Adds the workflows of files, for `arsenal.add`: a file, folder or pattern, or settings.
 *
 * @example
 * await arsenal.add(workflows("./flows"));
 */
export function workflows(given: string | WorkflowsSettings) {
  return { ...(typeof given === "string" ? { paths: [given] } : given), type: "workflows" as const };
}
