/** Finds the declarations behind the exports of the package, with their doc comments and signatures. */
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Reads a file of the repository. */
export const read = (path: string): string => readFileSync(ROOT + path, "utf8");

/** The declaration of an export. */
export interface Declaration {
  readonly kind: string;
  /** The first paragraph of its doc comment. */
  readonly about: string;
  /** The text from its name on. */
  readonly text: string;
  /** The program in its doc comment. */
  readonly example?: string;
}

const KINDS = "function|const|class|abstract class|interface|type|namespace";

/** Finds the declaration of an export, through the files that export it again. */
export function declarationOf(path: string, name: string): Declaration | undefined {
  if (!existsSync(ROOT + path)) return undefined;
  const text = read(path);
  const own = new RegExp(
    `(?<doc>/\\*\\*(?:(?!\\*/)[^])*\\*/\\n)?^(?:export )?(?:declare )?(?:async )?(?<kind>${KINDS}) (?<rest>${name}\\b[^]*)`,
    "m",
  ).exec(text)?.groups;
  if (own !== undefined) return { kind: own["kind"] ?? "", text: own["rest"] ?? "", ...commentOf(own["doc"] ?? "") };
  for (const [, list = "", from = ""] of text.matchAll(/^(?:export|import) (?:type )?\{([^}]*)\} from "([^"]+)"/gm)) {
    const entry = list.split(",").map((each) =>
      each
        .trim()
        .replace(/^type /, "")
        .split(" as "),
    );
    const [original] = entry.find((each) => each.at(-1) === name) ?? [];
    if (original !== undefined && from.startsWith(".")) return declarationOf(beside(path, from), original);
  }
  for (const [, from = ""] of text.matchAll(/^export (?:type )?\* from "(\.[^"]+)"/gm)) {
    const found = declarationOf(beside(path, from), name);
    if (found !== undefined) return found;
  }
  return undefined;
}

const beside = (path: string, link: string): string => posix.join(posix.dirname(path), link);

/** The first paragraph of a doc comment, and its program. */
export function commentOf(doc: string): Pick<Declaration, "about" | "example"> {
  const text = doc.replaceAll(/^\s*\/\*\*\s?|\s*\*\/\s*$/g, "").replaceAll(/^\s*\* ?/gm, "");
  const [before = "", ...tags] = text.split(/^@/m);
  const [about = ""] = before.trim().split(/\n\s*\n|\n```/);
  const example =
    /```ts\n([^]*?)```/.exec(text)?.[1] ??
    tags
      .find((tag) => tag.startsWith("example"))
      ?.slice(7)
      .trim();
  return {
    about: about.replaceAll(/\s+/g, " ").replaceAll(/\{@link (\w+)\}/g, "`$1`"),
    ...(example !== undefined && { example }),
  };
}

/** The signature of a function: its text up to the body. */
export function signatureOf(text: string): string {
  let depth = 0;
  let isAfterParameters = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    const before = text.slice(0, at).trimEnd().at(-1) ?? "";
    if (character === "{" && depth === 0 && isAfterParameters && !":|&,".includes(before))
      return tidy(text.slice(0, at));
    if (character === ";" && depth === 0) return tidy(text.slice(0, at));
    if ("([{<".includes(character)) depth += 1;
    if (")]}".includes(character) || (character === ">" && before !== "=")) depth -= 1;
    if (character === ")" && depth === 0) isAfterParameters = true;
  }
  return "";
}

/** Text on one line, without comments. */
export const tidy = (text: string): string =>
  text
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/,? \)/g, ")")
    .replaceAll("( ", "(")
    .trim();

/** True if an export is an interface or another type. */
export const isType = (declared: Declaration | undefined): boolean => /^(?:interface|type)$/.test(declared?.kind ?? "");

/** The text of a type, without comments: what is in its braces, or what its name stands for. */
export function bodyOf(declared: Declaration | undefined): string {
  if (declared === undefined) return "";
  const text = declared.text.replaceAll(/\/\*[^]*?\*\//g, "");
  const end = declared.kind === "type" ? text.search(/;$(?!\n {2,})/m) : text.search(/^\}/m);
  return text.slice(0, end === -1 ? undefined : end);
}

interface Member {
  /** `list`, or `tenants.list` for a member of an object that is written out. */
  readonly name: string;
  readonly text: string;
}

/** The members of a class or an interface, each with its name and its signature. */
export function membersOf(declared: Declaration | undefined): readonly Member[] {
  if (declared?.kind !== "class" && declared?.kind !== "interface") return [];
  const isClass = declared.kind === "class";
  return membersIn(bodyOf(declared), 2).flatMap((member) => {
    if (isClass) return [{ ...member, text: signatureOf(member.text) }];
    const inner = /^\w+\??: \{$/m.test(member.text) ? membersIn(member.text, 4) : [];
    return inner.length === 0 ? [member] : inner.map(({ name, text }) => ({ name: `${member.name}.${name}`, text }));
  });
}

function membersIn(text: string, indent: number): readonly Member[] {
  return text
    .split(new RegExp(`^(?= {${indent}}[a-z])`, "m"))
    .slice(1)
    .map((each) => each.trim().replace(/^(?:(?:static|async|readonly|get|private|override) )+/, ""))
    .map((each) => ({ name: /^\w+/.exec(each)?.[0] ?? "", text: each }));
}

/** An entry point with the module behind it and its exports. */
export interface EntryPoint {
  readonly entry: string;
  readonly path: string;
  readonly values: readonly string[];
  readonly types: readonly string[];
}

/** Every entry point, as test/surface.json pins them. */
export function entryPoints(): readonly EntryPoint[] {
  const surface = JSON.parse(read("test/surface.json")) as Record<
    string,
    readonly string[] | { values: string[]; types: string[] }
  >;
  const { exports } = JSON.parse(read("package.json")) as {
    exports: Record<string, { "toolarsenal:source"?: string }>;
  };
  return Object.entries(surface)
    .filter(([subpath]) => subpath !== "exports")
    .map(([subpath, names]) => ({
      entry: subpath.replace(/^\./, "toolarsenal"),
      path: exports[subpath]?.["toolarsenal:source"]?.slice(2) ?? "",
      ...(Array.isArray(names)
        ? { values: names as string[], types: [] }
        : (names as { values: string[]; types: string[] })),
    }));
}
