import { isIPv4, isIPv6 } from "node:net";

/** Checks values of a format's type. Values of other types pass. */
export interface Format {
  readonly type: "string" | "number";
  test(value: string | number): boolean;
}

/** Longer texts are not matched, because some of the expressions take quadratic time. */
const MAX_LENGTH = 2_048;

const CHARACTER = "(?:[\\w\\-.~!$&'()*+,;=:@]|%[\\da-f]{2})";
const AUTHORITY = `//(?:${CHARACTER}*@)?(?:\\[[\\da-fv:.]+\\]|(?:[\\w\\-.~!$&'()*+,;=]|%[\\da-f]{2})*)(?::\\d*)?`;
const PATH = `(?:${AUTHORITY}(?:/${CHARACTER}*)*|/?(?:${CHARACTER}+(?:/${CHARACTER}*)*)?)`;
const REST = `(?:\\?(?:${CHARACTER}|[/?])*)?(?:#(?:${CHARACTER}|[/?])*)?`;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(z|([+-])(\d\d)(?::?(\d\d))?)?$/i;
const POINTER = "(?:/(?:[^~/]|~0|~1)*)*";
const LABEL = "[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?";

/** Formats of texts. Long texts of the formats in `long` are accepted unchecked. No valid text of the other formats is that long. */
const TEXTS: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  date: isDate,
  time: (text) => isTime(text, true),
  "date-time": (text) => isDateTime(text, true),
  "iso-time": (text) => isTime(text, false),
  "iso-date-time": (text) => isDateTime(text, false),
  duration: /^P(?!$)(?:(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?|(?:\d+W)?)$/,
  email:
    /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z\d](?:[a-z\d-]*[a-z\d])?$/i,
  hostname: new RegExp(`^(?=.{1,253}\\.?$)${LABEL}(?:\\.${LABEL})*\\.?$`, "i"),
  ipv4: isIPv4,
  ipv6: (text) => isIPv6(text) && !text.includes("%"),
  uuid: /^(?:urn:uuid:)?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i,
};
const LONG_TEXTS: typeof TEXTS = {
  uri: new RegExp(`^[a-z][a-z\\d+\\-.]*:${PATH}${REST}$`, "i"),
  "uri-reference": new RegExp(`^(?:[a-z][a-z\\d+\\-.]*:)?${PATH}${REST}$`, "i"),
  "uri-template":
    /^(?:[^\p{Cc} "'<>%\\^`{|}]|%[\da-f]{2}|\{[+#./;?&=,!@|]?(?:\w|%[\da-f]{2})+(?::[1-9]\d{0,3}|\*)?(?:,(?:\w|%[\da-f]{2})+(?::[1-9]\d{0,3}|\*)?)*\})*$/iu,
  url: (text) => /^(?:https?|ftp):\/\/[^\s/{}<>"][^\s{}<>"]*$/i.test(text) && URL.canParse(text),
  "json-pointer": new RegExp(`^${POINTER}$`),
  "json-pointer-uri-fragment": /^#(?:\/(?:[\w\-.!$&'()*+,;:=@]|%[\da-f]{2}|~0|~1)*)*$/i,
  "relative-json-pointer": new RegExp(`^(?:0|[1-9]\\d*)(?:#|${POINTER})$`),
  regex: isRegex,
  byte: /^(?:[a-z\d+/]{4})*(?:[a-z\d+/]{2}==|[a-z\d+/]{3}=)?$/i,
};

const FORMATS: ReadonlyMap<string, Format> = new Map([
  ...Object.entries(TEXTS).map(([name, test]) => [name, textFormat(test, false)] as const),
  ...Object.entries(LONG_TEXTS).map(([name, test]) => [name, textFormat(test, true)] as const),
  ["int32", { type: "number", test: (value) => Number.isInteger(value) && value === (Number(value) | 0) }],
  ["int64", { type: "number", test: (value) => Number.isInteger(value) }],
]);

/** Returns the check of a format; undefined for an unknown format, which is not checked. */
export function formatOf(name: string): Format | undefined {
  return FORMATS.get(name);
}

function textFormat(check: RegExp | ((text: string) => boolean), mayBeLong: boolean): Format {
  const test = check instanceof RegExp ? (text: string): boolean => check.test(text) : check;
  return {
    type: "string",
    test: (value) => (String(value).length > MAX_LENGTH ? mayBeLong : test(String(value))),
  };
}

function isDate(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = DATE.exec(text)?.map(Number) ?? [];
  // Day 0 of the next month is the last day of this month. Adding 2000 avoids the special meaning of the years 0 to 99.
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2000 + year, month, 0)).getUTCDate();
}

function isTime(text: string, needsZone: boolean): boolean {
  const found = TIME.exec(text);
  if (!found || (needsZone && found[4] === undefined)) return false;
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number);
  const [zoneHour, zoneMinute] = [Number(found[6] ?? 0), Number(found[7] ?? 0)];
  if (hour > 23 || minute > 59 || zoneHour > 23 || zoneMinute > 59) return false;
  const offset = (zoneHour * 60 + zoneMinute) * (found[5] === "-" ? -1 : 1);
  // A leap second is the last second of a day, in UTC.
  return second < 60 || (second === 60 && (hour * 60 + minute - offset + 1440) % 1440 === 1439);
}

function isDateTime(text: string, needsZone: boolean): boolean {
  const [date = "", time = "", more] = text.split(/t|\s/i);
  return more === undefined && isDate(date) && isTime(time, needsZone);
}

function isRegex(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp && !/[^\\]\\Z/.test(text);
  } catch {
    return false;
  }
}
