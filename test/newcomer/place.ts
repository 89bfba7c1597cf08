import { read } from "../repo/project.ts";
import type { Shell } from "./shell.ts";

/** One newcomer's machine. */
export interface Place {
  /** The folder that all of it is in. */
  readonly folder: string;
  readonly home: string;
  /** The packed package. */
  readonly tarball: string;
  /** The folder that has the Node of this run. */
  readonly node: string;
  /** A project in which the package is installed. */
  readonly shell: Shell;
}

/** The version of a package that this project has installed. */
export function versionOf(name: string): string {
  return (JSON.parse(read(`node_modules/${name}/package.json`)) as { readonly version: string }).version;
}
