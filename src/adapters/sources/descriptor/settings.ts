import { entry, type InputOf, list, path } from "../../../tool/shape/shape.ts";

export const config = entry(
  "TOML descriptors of ensembles.",
  {
    paths: list(
      "Files, folders, or patterns with * in the last part. Each file is one ensemble.",
      path("A file, folder or pattern."),
    ),
  },
  ["paths"],
);

export type DescriptorsSettings = InputOf<typeof config>;

/**
 * Adds ensembles that TOML files describe, for `arsenal.add`. Paths are files, folders or patterns.
 *
 * @example
 * await arsenal.add(descriptors("./ensembles"));
 */
export function descriptors(...paths: readonly string[]) {
  return { paths, type: "descriptor" as const };
}
