import { type JsoncNode, parseJsonc } from "../../../config/clients/jsonc.ts";
import type { FileFormat } from "./file-format.ts";

const BLANK = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** JSON with comments and trailing commas. Comments between entries stay. */
export const jsoncFormat: FileFormat = {
  parse: async (text, file) => parseJsonc(text, file).value,
  async replace(text, file, { path, removed, name, entry }) {
    const block = path.reduce<JsoncNode | undefined>((node, key) => node?.members?.get(key), parseJsonc(text, file));
    const members = [...(block?.members ?? [])].sort(([, a], [, b]) => a.start - b.start);
    const isRemoved = ([key]: (typeof members)[number]): boolean => removed.has(key) || key === name;
    const first = members.findIndex(isRemoved);
    const last = members.findLastIndex((member, index) => !isRemoved(member) || index === first);
    const endsWithComma = members.length > 0 && commaAfter(text, members.at(-1)?.[1].end ?? 0) !== undefined;
    const edits = members.flatMap((member, index): readonly Edit[] => {
      const [, { keyStart = 0, end }] = member;
      const comma = commaAfter(text, end);
      const needsComma = index !== last || endsWithComma;
      const withComma = needsComma ? "," : "";
      const oldComma = comma === undefined ? [] : [{ start: comma, end: comma + 1, text: "" }];
      if (index === first)
        return [{ start: keyStart, end, text: writtenEntry(text, keyStart, name, entry) + withComma }, ...oldComma];
      if (isRemoved(member)) return [wholeLines(text, keyStart, end, comma), ...oldComma];
      if (needsComma) return comma === undefined ? [{ start: end, end, text: "," }] : [];
      return oldComma;
    });
    return applied(text, edits);
  },
};

/** Returns the position of the comma after a value; undefined if there is none. */
function commaAfter(text: string, end: number): number | undefined {
  BLANK.lastIndex = end;
  const at = end + (BLANK.exec(text)?.[0].length ?? 0);
  return text[at] === "," ? at : undefined;
}

/** Returns the edit that removes an entry, with its lines if they contain nothing else. */
function wholeLines(text: string, start: number, end: number, comma: number | undefined): Edit {
  const after = comma === end ? end + 1 : end;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const [rest = ""] = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(after)) ?? [];
  const isAlone = text.slice(lineStart, start).trim() === "" && rest !== "";
  return isAlone ? { start: lineStart, end: after + rest.length, text: "" } : { start, end, text: "" };
}

function writtenEntry(text: string, keyStart: number, name: string, entry: object): string {
  const lead = text.slice(text.lastIndexOf("\n", keyStart - 1) + 1, keyStart);
  if (lead.trim() !== "") return `${JSON.stringify(name)}: ${JSON.stringify(entry)}`;
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  return `${JSON.stringify(name)}: ${JSON.stringify(entry, undefined, unit).replaceAll("\n", `\n${lead}`)}`;
}

/** Applies edits from the end of the text. An edit inside another one is part of it. */
function applied(text: string, edits: readonly Edit[]): string {
  const inOrder = edits.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const outer = inOrder.filter(
    (edit, index) =>
      !inOrder.slice(0, index).some(({ start, end }) => start <= edit.start && edit.end <= end && end > start),
  );
  return outer.reduceRight((edited, { start, end, text: by }) => edited.slice(0, start) + by + edited.slice(end), text);
}
