import type { Document, Node, Pair } from "yaml";
import { offsetOf } from "../../adapters/policies/rules/document/read-document.ts";
import { configInvalid, type LocatedIssue } from "../../errors/arsenal-error.ts";
import type { Origin } from "./check-config.ts";
import { fillReferences, hasReference, isWholeReference } from "./environment.ts";

/** The maximum number of aliases. More are an attack or a mistake. */
const MAX_ALIASES = 100;

/** The maximum length. Parsing blocks the process: 2 MiB take one or two seconds. */
const MAX_CHARACTERS = 2 * 1024 * 1024;

/** Parses a YAML document to plain data, and fills in environment references except under foreign keys. Also returns the position of each value. */
export async function readYaml(
  source: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  isForeign: (topLevelKey: string) => boolean = () => false,
): Promise<{ readonly value: unknown; readonly origin: Origin; readonly isEmpty: boolean }> {
  if (source.length > MAX_CHARACTERS) {
    const [given, limit] = [source.length, MAX_CHARACTERS].map((each) => each.toLocaleString("en"));
    const message = `the file has ${given} characters, and at most ${limit} are read`;
    throw configInvalid([{ field: "yaml", message, fix: "Remove what is not needed.", at: `${name}:1:1 ` }]);
  }
  const { isScalar, LineCounter, parseDocument, visit } = await import("yaml");
  const lines = new LineCounter();
  // Pretty errors would quote the line, which may contain a secret. The library's own check for duplicate keys takes quadratic time.
  const options = { lineCounter: lines, merge: true, prettyErrors: false, uniqueKeys: false };
  const document = parseDocument(source, options);
  const at = (offset = 0): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${Math.max(1, line)}:${Math.max(1, col)} `;
  };
  const [broken] = document.errors;
  if (broken) {
    const { message, pos } = broken;
    throw configInvalid([{ field: "yaml", message, fix: "Fix the YAML at that line.", at: at(pos[0]) }]);
  }

  const references = new Map<string, string>();
  const issues: LocatedIssue[] = [];
  const twice: LocatedIssue[] = [];
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const value = String(key.value);
        const message = "the key is given twice";
        if (seen.has(key.value))
          twice.push({ field: value, message, value, fix: "Remove one of the two.", at: at(key.range?.[0]) });
        seen.add(key.value);
      }
    },
    Scalar(key, node, ancestors) {
      if (key === "key" || typeof node.value !== "string" || !hasReference(node.value)) return;
      const { value: written } = node;
      const path = pathOf(key, ancestors);
      if (isForeign(path[0] ?? "")) return;
      const filled = fillReferences(written, environment, (problem) => {
        issues.push({ field: path.join("."), ...problem, at: at(node.range?.[0]) });
        return problem.value;
      });
      // A variable with an empty default counts as omitted.
      node.value = isWholeReference(written) && filled === "" ? null : filled;
      if (filled !== written) references.set(filled, written);
    },
  });
  if (twice.length > 0) throw configInvalid(twice.slice(0, 1));
  if (issues.length > 0) throw configInvalid(issues);
  const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
  return {
    value: value ?? {},
    isEmpty: value === undefined || value === null,
    origin: {
      locate: (path) => at(offsetOf(document, path, "key")),
      reference: (filled) => (typeof filled === "string" ? references.get(filled) : undefined),
    },
  };
}

/** Returns the keys that lead to a value, outermost first. */
function pathOf(key: number | "key" | "value" | null, ancestors: readonly (Document | Node | Pair)[]): string[] {
  const path: string[] = [];
  for (const [index, ancestor] of ancestors.entries()) {
    if ("key" in ancestor) path.push(String(ancestor.key));
    else if ("items" in ancestor && Array.isArray(ancestor.items)) {
      const child: unknown = ancestors[index + 1];
      const place = child === undefined ? key : ancestor.items.indexOf(child as never);
      if (typeof place === "number" && !isPair(ancestor.items[place])) path.push(String(place));
    }
  }
  return path;
}

function isPair(item: unknown): item is Pair {
  return typeof item === "object" && item !== null && "key" in item;
}
