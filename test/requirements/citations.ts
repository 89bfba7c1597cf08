import { files, read } from "../repo/project.ts";

/** A test that cites a requirement: in square brackets at the end of its name. */
export interface Citation {
  readonly id: string;
  readonly path: string;
  /** The name without what it cites. */
  readonly test: string;
}

/** A name, and the citations that end it. A test that is switched off cites nothing. */
const NAME =
  /(?<off>\.(?:skip|todo|fails))?\(\s*(?<quote>["'`])(?<name>(?:\\.|(?!\k<quote>)[^\\])*?)(?<cited>(?:\s*\[\d{3}-[a-z0-9.-]+\])+)\k<quote>/g;

export function citationsIn(path: string, text: string): readonly Citation[] {
  return [...text.matchAll(NAME)]
    .filter(({ groups }) => groups?.["off"] === undefined)
    .flatMap(({ groups }) =>
      [...(groups?.["cited"] ?? "").matchAll(/\[([^\]]+)\]/g)].map(([, id = ""]) => ({
        id,
        path,
        test: (groups?.["name"] ?? "").trim(),
      })),
    );
}

/** Every citation in the tests of the project, by path. */
export function citations(): readonly Citation[] {
  return files(["src/**/*.test.ts", "test/**/*.test.ts"]).flatMap((path) => citationsIn(path, read(path)));
}
