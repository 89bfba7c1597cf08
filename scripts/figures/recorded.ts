import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** The file with every figure that README and docs quote. */
export const FIGURES_FILE = "docs/figures.json";

/** Figures that one command measured, and how. */
export interface FigureGroup {
  readonly command: string;
  /** The day of the run, as `2026-11-18`. */
  readonly date: string;
  /** The commit that was checked out. */
  readonly commit: string;
  readonly machine: string;
  /** The load average of one minute when the run ended. Counts and rankings do not depend on it, times do. */
  readonly load?: number;
  /** The files that the figures depend on, each with the start of its SHA-256. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Where data came from that is not in the repository. */
  readonly source?: string;
  /** As they are quoted. */
  readonly values: Readonly<Record<string, string>>;
}

export type Figures = Readonly<Record<string, FigureGroup>>;

export function readFigures(): Figures {
  const path = ROOT + FIGURES_FILE;
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Figures) : {};
}

/** The digests of files, as they are recorded. */
export function digestsOf(paths: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    paths.map((path) => {
      const hash = createHash("sha256").update(readFileSync(ROOT + path));
      return [path, hash.digest("hex").slice(0, 16)];
    }),
  );
}

/** The files that changed since a group was measured, or are gone. */
export function changedInputs({ inputs }: FigureGroup): readonly string[] {
  return Object.entries(inputs)
    .filter(([path, digest]) => !existsSync(ROOT + path) || digestsOf([path])[path] !== digest)
    .map(([path]) => path);
}
