import type { Document, Node, Pair, YAMLError } from "yaml";
import { isArsenalError } from "../errors/arsenal-error.ts";
import { configInvalid, type LocatedIssue, type Origin } from "./check-config.ts";
import { fillReferences, hasReference, isWholeReference } from "./environment.ts";

/** More aliases than this are an attack, or a mistake. */
const MAX_ALIASES = 100;

/**
 * A YAML document as plain data with its references to the environment replaced, and where everything stood. What is under a key that
 * `isForeign` stays as it is written.
 */
export async function readYaml(
  source: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  isForeign: (topLevelKey: string) => boolean = () => false,
): Promise<{ readonly value: unknown; readonly origin: Origin }> {
  const { LineCounter, parseDocument, visit } = await import("yaml");
  const lines = new LineCounter();
  // Plain messages: the pretty ones quote the line, and a secret may be on it.
  const document = parseDocument(source, { lineCounter: lines, merge: true, prettyErrors: false });
  const at = (offset = 0): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${Math.max(1, line)}:${Math.max(1, col)} `;
  };
  const [broken] = document.errors;
  if (broken) throw configInvalid([syntaxIssue(broken, source, at)]);

  const references = new Map<string, string>();
  const issues: LocatedIssue[] = [];
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === "key" || typeof node.value !== "string" || !hasReference(node.value)) return;
      const written = node.value;
      const path = pathOf(key, ancestors);
      if (isForeign(path[0] ?? "")) return;
      const field = path.join(".");
      try {
        const filled = fillReferences(written, environment, field);
        const isWhole = isWholeReference(written);
        // A variable that is empty by its default is as good as not given.
        node.value = isWhole && filled === "" ? null : filled;
        if (filled !== written) references.set(filled, written);
      } catch (error) {
        if (!isArsenalError(error)) throw error;
        const { value, fix = "" } = error.details;
        const message = error.message.slice(`${field}: `.length, -`. ${fix}`.length);
        issues.push({ field, message, value, fix, at: at(node.range?.[0]) });
      }
    },
  });
  if (issues.length > 0) throw configInvalid(issues);
  return {
    value: document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {},
    origin: {
      locate: (path) => at(offsetOf(document, path)),
      reference: (value) => (typeof value === "string" ? references.get(value) : undefined),
    },
  };
}

function syntaxIssue({ code, message, pos }: YAMLError, source: string, at: (offset: number) => string): LocatedIssue {
  if (code === "DUPLICATE_KEY") {
    const key = /^[^:\n]*/.exec(source.slice(pos[0]))?.[0].trim() ?? "";
    return { field: key, message: "the key is there twice", value: key, fix: "Remove one of the two.", at: at(pos[0]) };
  }
  return { field: "yaml", message, fix: "Mend the YAML at that line.", at: at(pos[0]) };
}

/** The keys that lead to a value, outermost first. */
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

/** Where in the file a key stands, or its nearest parent that is there. */
function offsetOf(document: Document, path: readonly string[]): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    if (typeof parent !== "object" || parent === null || !("items" in parent) || !Array.isArray(parent.items)) continue;
    const last = path[length - 1] ?? "";
    const items: readonly unknown[] = parent.items;
    const pair = items.find((item) => isPair(item) && String(item.key) === last);
    const node: unknown = isPair(pair) ? pair.key : isPair(items[0]) ? undefined : items[Number(last)];
    if (typeof node === "object" && node !== null && "range" in node)
      return (node.range as readonly number[] | undefined)?.[0];
  }
  return undefined;
}
