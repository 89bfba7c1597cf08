import { fixable } from "../../../errors/arsenal-error.ts";
import type { FileFormat } from "./file-format.ts";

/** YAML in block style: a mapping of servers, or a list of entries with a `name`. */
export const yamlFormat: FileFormat = {
  async parse(text, file) {
    const { parseDocument } = await import("yaml");
    const document = parseDocument(text);
    const [error] = document.errors;
    if (error !== undefined)
      throw fixable("INPUT_INVALID", `${file}: ${error.message.split("\n")[0]}`, "Fix the YAML there.", {
        field: file,
      });
    return document.toJS() as unknown;
  },
  async replace(text, _file, { path, removed, name, entry }) {
    const { Document, isMap, isNode, isScalar, isSeq, parseDocument } = await import("yaml");
    const block = parseDocument(text).getIn(path);
    const spans: { readonly start: number; readonly end: number }[] = [];
    const take = (key: unknown, from: unknown, to: unknown): void => {
      if (!(removed.has(String(key)) || key === name) || !isNode(from) || !isNode(to)) return;
      if (from.range && to.range) spans.push(lines(text, from.range[0], to.range[1]));
    };
    if (isMap(block)) for (const { key, value } of block.items) take(isScalar(key) ? key.value : undefined, key, value);
    if (isSeq(block)) for (const item of block.items) take(isMap(item) ? item.get("name") : undefined, item, item);
    const [first] = spans;
    if (first === undefined) return text;
    const lead = /^[ \t]*/.exec(text.slice(first.start))?.[0] ?? "";
    const own = isSeq(block) ? [{ name, ...entry }] : { [name]: entry };
    const written = new Document(own).toString({ lineWidth: 0 }).trimEnd().replaceAll("\n", `\n${lead}`);
    return spans.reduceRight(
      (edited, span) =>
        edited.slice(0, span.start) + (span === first ? `${lead}${written}\n` : "") + edited.slice(span.end),
      text,
    );
  },
};

/** Returns the complete lines between two offsets, without blank lines at the end. */
function lines(text: string, from: number, to: number): { readonly start: number; readonly end: number } {
  const end = from + text.slice(from, to).trimEnd().length;
  const newline = text.indexOf("\n", end);
  return { start: text.lastIndexOf("\n", from - 1) + 1, end: newline === -1 ? text.length : newline + 1 };
}
