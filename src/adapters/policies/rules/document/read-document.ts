import { configInvalid, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import type { Locate } from "./check-fields.ts";

/** More aliases are an attack or a mistake. */
const MAX_ALIASES = 100;

/** Parses a YAML (or JSON) text, with the location of every value. `name` is for messages. */
export function readDocument(text: string, name: string): { readonly value: unknown; readonly locate: Locate } {
  const { LineCounter, parseDocument, visit } = library();
  const lines = new LineCounter();
  const at = (offset = 0): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${Math.max(1, line)}:${Math.max(1, col)} `;
  };
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    const [broken] = document.errors;
    if (broken !== undefined) {
      const fix =
        "Fix the YAML at that line; a text with : or # in it, with ${{ }} inside braces, or with * at its start, needs quotes.";
      throw configInvalid([{ field: "yaml", message: broken.message, fix, at: at(broken.pos[0]) }]);
    }
    visit(document, {
      Alias(_key, node) {
        if (node.resolve(document) !== undefined) return;
        const message = `*${node.source} is an alias to a missing anchor`;
        const fix = `Put a pattern that begins with * in quotes: "*${node.source}".`;
        throw configInvalid([{ field: "yaml", message, fix, at: at(node.range?.[0]) }]);
      },
    });
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { value, locate: (path) => at(offsetOf(document, path, "value")) };
  } catch (cause) {
    if (isArsenalError(cause)) throw cause;
    // Such as an alias bomb, or nesting so deep that the parser overflows the stack.
    const message = `the document cannot be read: ${messageOf(cause)}`;
    const fix = "Check its anchors and aliases, and write it with less nesting.";
    throw configInvalid([{ field: "yaml", message, fix, at: `${name}: ` }]);
  }
}

/** Returns the offset of a value or its key, or of the nearest existing parent. An unexpected key is at its own position. */
export function offsetOf(document: Yaml.Document, path: readonly string[], of: "key" | "value"): number | undefined {
  const { isMap, isNode, isScalar } = library();
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1] ?? "";
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      const node = of === "value" && isNode(pair?.value) && isScalar(pair.value) ? pair.value : pair?.key;
      if (isNode(node) && node.range) return node.range[0];
    } else {
      const node: unknown = document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return node.range[0];
    }
  }
  return undefined;
}

/** Loaded on the first document that is a text. */
function library(): typeof Yaml {
  return createRequire(import.meta.url)("yaml") as typeof Yaml;
}
