/** A line of a secret that is at least this long is a secret of its own: logs are written and read by the line. */
const MIN_LINE = 16;

/** Every way a secret may be written: as it is, in JSON, in an address, in hex, and inside any base64. */
export function formsOf(secret: string): ReadonlySet<string> {
  const forms = new Set<string>();
  const lines = secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE) : [];
  for (const text of [secret, ...lines]) {
    forms.add(text);
    for (const form of [...inJson(text), ...inAddress(text), ...inHex(text), ...inBase64(text)]) forms.add(form);
  }
  return forms;
}

function inJson(text: string): readonly string[] {
  const escaped = escapeOnce(text);
  const ascii = escaped.replaceAll(/[\u0080-\uFFFF]/g, toUnicodeEscape);
  // An answer in JSON is often quoted in another one.
  return [escaped, escapeOnce(escaped), ascii, escapeOnce(ascii), escaped.replaceAll("/", "\\/")];
}

function escapeOnce(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function toUnicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Percent-encoded as `encodeURIComponent` does it, as RFC 3986 asks, and as forms do, with digits of either case. */
function inAddress(text: string): readonly string[] {
  const component = encodeURIComponent(text.toWellFormed());
  const strict = component.replaceAll(/[!'()*]/g, toPercent);
  const form = component.replaceAll(/[!'()~]/g, toPercent).replaceAll("%20", "+");
  const upper = [component, strict, form, encodeURI(text.toWellFormed())];
  return [...upper, ...upper.map((encoded) => encoded.replaceAll(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()))];
}

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function inHex(text: string): readonly string[] {
  const hex = Buffer.from(text).toString("hex");
  return [hex, hex.toUpperCase()];
}

/** The whole of it with and without padding, and what it looks like after any other bytes. */
function inBase64(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const standard = [bytes.toString("base64"), ...[0, 1, 2].map((before) => insideBase64(bytes, before))];
  const forms = [...standard, ...standard.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
  return [...forms, ...forms.map((form) => form.replace(/=+$/, ""))];
}

/** The characters that stand for nothing but the secret, where so many bytes of the first three come before it. */
function insideBase64(bytes: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
  const first = Math.ceil((before * 8) / 6);
  const last = Math.floor(((before + bytes.length) * 8) / 6);
  return encoded.slice(first, last);
}
