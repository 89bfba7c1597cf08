import { entry, type InputOf, list, path, text, whole } from "../../../tool/shape/shape.ts";

export const config = entry(
  "Workflow files, each of which is a tool that calls other tools.",
  {
    name: text("Name of the ensemble, and namespace of its tools. Defaults to workflows."),
    paths: list(
      "Files, folders, and patterns such as ./flows/*.yaml. A folder means the YAML, TypeScript and JavaScript files in it, without subfolders.",
      path("A file, folder or pattern."),
    ),
    namespace: text("Namespace of the workflows' tools. Defaults to the ensemble's name."),
    parallel: whole("Maximum number of concurrent calls in one run. Defaults to 8.", 1, 64),
    maxConcurrent: whole(
      "Maximum number of concurrent runs. Defaults to execution.max_concurrent_per_ensemble.",
      1,
      100_000,
    ),
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
