import { unescapeOnce } from "./unescaped.ts";

/** Shorter secrets are parts of ordinary words. */
export const MIN_SECRET_LENGTH = 6;

/** A line of a secret that is at least this long is a secret of its own: logs are written and read by the line. */
const MIN_LINE = 16;

/** Every way a secret may be written once escapes are undone: as it is, in hex, inside any base64, and inside any base64 of that. */
export function formsOf(secret: string): ReadonlySet<string> {
  const forms = new Set<string>();
  for (const text of textsOf(secret)) {
    const encoded = new URLSearchParams([["", text]]).toString().slice(1);
    // What is in base64 may have been escaped before: a member of a token, or the password of an OAuth client.
    const inside = new Set([text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed()), encoded]);
    // Forms write a space as `+`.
    for (const form of [text, text.replaceAll(" ", "+"), ...inHex(text), ...[...inside].flatMap(inBase64)])
      forms.add(form);
  }
  return forms;
}

/** The texts that give the secret away: itself, what is left of it where escapes are undone, and its long lines. */
function textsOf(secret: string): ReadonlySet<string> {
  const texts = new Set([secret, secret.toWellFormed(), secret.normalize("NFC"), secret.normalize("NFD")]);
  // What is added on the way is come to as well.
  for (const text of texts) {
    const { text: plainer = "" } = unescapeOnce(text) ?? {};
    if (plainer.length >= MIN_SECRET_LENGTH) texts.add(plainer);
    for (const line of text.split(/\r?\n/)) if (line.length >= MIN_LINE) texts.add(line);
  }
  return texts;
}

function inHex(text: string): readonly string[] {
  const hex = Buffer.from(text).toString("hex");
  return [hex, hex.toUpperCase()];
}

/** The whole of it with and without padding, and within anything else; once more too, since Docker and Kubernetes keep base64 of base64. */
function inBase64(text: string): readonly string[] {
  const whole = Buffer.from(text).toString("base64");
  const inside = insideBase64(text);
  const twice = [Buffer.from(whole).toString("base64"), ...inside.flatMap(insideBase64)];
  const forms = [whole, whole.replace(/=+$/, ""), ...inside, ...twice];
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** The characters of base64 that stand for nothing but the text, where none, one or two bytes of the three before it belong to something else. */
function insideBase64(text: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
}
