import { type ArsenalError, fixable } from "../../../../errors/arsenal-error.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { isJson } from "../read/read-body.ts";
import type { Writing } from "../read/read-parameters.ts";

/** Encodes the characters that are special in one part of a request. */
export type Encode = (text: string) => string;

/** An encoded name and value. */
export type Pair = readonly [name: string, value: string];

/** Encodes everything except letters, digits and `-._~` as %XX. */
export const encodeStrictly: Encode = (text) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

/** Like `encodeStrictly`, but keeps characters that are allowed in a query, except those that would end the value or the query. */
export const encodeForQuery: Encode = (text) =>
  encodeStrictly(text).replaceAll(/%(?:3A|2F|3F|40|21|24|28|29|2A|2C|3B|3D)/g, decodeURIComponent);

/** Like `encodeStrictly`, for a path of several segments. */
export const encodeForPath: Encode = (text) =>
  encodeStrictly(text).replaceAll(/%(?:3A|2F|40|21|24|26|27|28|29|2A|2B|2C|3B|3D)/g, decodeURIComponent);

/** Encodes as forms do: a space becomes `+`. */
export const encodeForForm: Encode = (text) => String(new URLSearchParams([["", text]])).slice(1);

const DELIMITERS: Readonly<Record<string, string>> = { spaceDelimited: " ", pipeDelimited: "|", tabDelimited: "\t" };

/** Writes a value as one text, for paths and headers. Styles: simple, label, matrix, and delimited lists. */
export function writeOne(name: string, value: unknown, writing: Writing, encode: Encode): string {
  const { style, explode, contentType } = writing;
  if (contentType !== undefined) return encode(toMedia(value, contentType));
  const delimiter = style in DELIMITERS ? encode(DELIMITERS[style] ?? "") : ",";
  const members = toMembers(value);
  switch (style) {
    case "label":
      return members === undefined
        ? `.${encode(toText(value))}`
        : `.${joinMembers(members, explode, explode ? "." : ",", encode)}`;
    case "matrix": {
      const key = encode(name);
      const assign = (text: string): string => (text === "" ? `;${key}` : `;${key}=${text}`);
      if (members === undefined) return assign(encode(toText(value)));
      if (!explode) return assign(joinMembers(members, false, ",", encode));
      return members
        .map(([member, text]) => (member === undefined ? assign(encode(text)) : `;${encode(member)}=${encode(text)}`))
        .join("");
    }
    default:
      return members === undefined ? encode(toText(value)) : joinMembers(members, explode, delimiter, encode);
  }
}

/** Writes a value as names and values, for queries, cookies and forms. Styles: form, deepObject, and delimited lists. */
export function writePairs(name: string, value: unknown, writing: Writing, encode: Encode): readonly Pair[] {
  const { style, explode, contentType } = writing;
  if (value === undefined) return [];
  const key = encode(name);
  if (contentType !== undefined) return [[key, encode(toMedia(value, contentType))]];
  if (value === null) return [];
  if (style === "deepObject") return deepPairs(name, value).map(([path, text]) => [encode(path), encode(text)]);
  const members = toMembers(value);
  if (members === undefined) return [[key, encode(toText(value))]];
  if (members.length === 0) return [];
  if (explode) return members.map(([member, text]) => [member === undefined ? key : encode(member), encode(text)]);
  // Delimiters other than the comma are encoded, because a URL must not contain them.
  const delimiter = style in DELIMITERS ? encodeStrictly(DELIMITERS[style] ?? "") : ",";
  return [[key, joinMembers(members, false, delimiter, encode)]];
}

/** Returns the default text of a value. Objects and lists become JSON. */
export function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
}

function toMedia(value: unknown, contentType: string): string {
  return isJson(contentType) ? JSON.stringify(value) : toText(value);
}

type Member = readonly [name: string | undefined, text: string];

/** Returns the members of a list (without names) or of an object; undefined for a plain value. Omits members that are null or undefined. */
function toMembers(value: unknown): readonly Member[] | undefined {
  if (Array.isArray(value))
    return value.flatMap((each) => (isAbsent(each) ? [] : [[undefined, toText(each)] as const]));
  if (!isPlainObject(value)) return undefined;
  return Object.entries(value).flatMap(([name, each]) => (isAbsent(each) ? [] : [[name, toText(each)] as const]));
}

function joinMembers(members: readonly Member[], explode: boolean, delimiter: string, encode: Encode): string {
  return members
    .map(([name, text]) => {
      if (name === undefined) return encode(text);
      return explode ? `${encode(name)}=${encode(text)}` : `${encode(name)}${delimiter}${encode(text)}`;
    })
    .join(delimiter);
}

/** Writes nested values as `a[b][0][c]`. */
function deepPairs(path: string, value: unknown): readonly Pair[] {
  if (isAbsent(value)) return [];
  if (typeof value !== "object") return [[path, toText(value)]];
  return Object.entries(value as object).flatMap(([name, each]) => deepPairs(`${path}[${name}]`, each));
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The error for an argument that cannot be written into a request. Nothing was sent. */
export function wrongArgument(argument: string, problem: string): ArsenalError {
  const fix = `Call again with another value for ${argument}.`;
  return fixable("ARGUMENTS_INVALID", `${argument} ${problem}.`, fix, { field: argument, beforeSend: true });
}
