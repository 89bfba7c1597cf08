import { measureJson } from "../../../../base/json/measure-json.ts";
import type { OpenFolder } from "./files.ts";
import type { Argument, Arguments } from "../tool/arguments.ts";
import type { Location } from "../read/read-parameters.ts";
import type { ReadOperation } from "../read/read-document.ts";
import { type BodyMember, type WrittenBody, writeMembers, writeWhole } from "./write-body.ts";
import {
  type Encode,
  encodeForPath,
  encodeForQuery,
  encodeStrictly,
  writeOne,
  writePairs,
  wrongArgument,
} from "./write-parameter.ts";

type ParameterArgument = Exclude<Argument, { readonly in: "body" }>;

/**
 * Builds the request of a call, without credentials. `target` is appended to the server's address. Throws ARGUMENTS_INVALID if an argument cannot be
 * written.
 */
export async function buildRequest(
  { path, arguments: { list, body, additional } }: Pick<ReadOperation, "path" | "arguments">,
  args: Readonly<Record<string, unknown>>,
  files?: OpenFolder,
) {
  const given = (each: Argument): unknown => (Object.hasOwn(args, each.argument) ? args[each.argument] : undefined);
  for (const each of list) {
    const value = given(each);
    if (each.required && value === undefined) throw wrongArgument(each.argument, "is missing");
    if (each.in !== "body" && isTooLong(value))
      throw wrongArgument(each.argument, `is longer than ${MAX_WRITTEN} bytes, the limit for addresses and headers`);
  }
  const inPlace = (place: Location): readonly ParameterArgument[] =>
    list.filter((each) => each.in !== "body").filter((each) => each.in === place);

  const headers: Record<string, string> = {};
  for (const each of inPlace("header")) {
    const value = given(each);
    if (value !== undefined && value !== null) headers[each.name.toLowerCase()] = toHeader(each, value);
  }
  const pairs = (place: Location, encodingOf: (each: ParameterArgument) => Encode): readonly string[] =>
    inPlace(place)
      .flatMap((each) => writePairs(each.name, given(each), each, encodingOf(each)))
      .map(([name, value]) => `${name}=${value}`);
  const query = pairs("query", ({ allowReserved }) => (allowReserved ? encodeForQuery : encodeStrictly));
  const cookies = pairs("cookie", toCookieEncoding);
  const members = list.filter((each) => each.in === "body").map((each) => ({ ...each, value: given(each) }));
  const known = new Set(list.map(({ argument }) => argument));
  const names = additional === undefined ? [] : Object.keys(args).filter((name) => !known.has(name));
  const further = names.map((name) => ({ name, argument: name, value: args[name] }));
  const [pathname = "", ...fixed] = fillPath(path, inPlace("path"), given).split("?");
  const search = [...(fixed.length === 0 ? [] : [fixed.join("?")]), ...query];
  return {
    target: search.length === 0 ? pathname : `${pathname}?${search.join("&")}`,
    headers,
    cookies,
    body: body && (await writeBody(body, members, further, files)),
  };
}

/** In characters. Servers refuse longer addresses and headers, which would also take long to write. */
const MAX_WRITTEN = 65_536;

function isTooLong(value: unknown): boolean {
  if (typeof value === "string") return value.length > MAX_WRITTEN;
  return typeof value === "object" && value !== null && !measureJson(value, MAX_WRITTEN).fits;
}

async function writeBody(
  body: NonNullable<Arguments["body"]>,
  members: readonly BodyMember[],
  further: readonly BodyMember[],
  files?: OpenFolder,
): Promise<WrittenBody | undefined> {
  const [first] = members;
  if (first?.name === "")
    return first.value === undefined ? undefined : writeWhole(first.value, first.argument, body, files);
  const present = [...members, ...further].filter(({ value }) => value !== undefined);
  if (present.length === 0 && !body.required) return undefined;
  for (const { name, argument, value } of members)
    if (value === undefined && body.shape?.required.has(name) === true)
      throw wrongArgument(argument, "is missing: a body requires it");
  return writeMembers(present, body, files);
}

function fillPath(
  template: string,
  parameters: readonly ParameterArgument[],
  given: (each: Argument) => unknown,
): string {
  const byName = new Map(parameters.map((each) => [each.name, each]));
  // The text after # is never sent. Documents use it to distinguish operations.
  return template.replace(/#.*$/, "").replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const each = byName.get(name);
    if (each === undefined) return whole;
    const text = writeOne(name, given(each), each, each.allowReserved ? encodeForPath : encodeStrictly);
    if (text === "") throw wrongArgument(each.argument, "must not be empty: it is part of the address");
    // Such segments shorten an address, so the value could reach another operation.
    if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(text))
      throw wrongArgument(each.argument, "must not lead to another address");
    return text;
  });
}

function toHeader(each: ParameterArgument, value: unknown): string {
  const text = writeOne(each.name, value, each, (raw) => raw);
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text))
    throw wrongArgument(each.argument, "has characters that are not allowed in a header");
  return text;
}

function toCookieEncoding({ style, argument }: ParameterArgument): Encode {
  if (style !== "cookie") return encodeStrictly;
  return (text) => {
    if (/[^\x21-\x7e]|[;,"\\]/.test(text))
      throw wrongArgument(argument, "has characters that are not allowed in a cookie");
    return text;
  };
}
