/** Twenty secrets, no two of one shape. None is real; those that look like a provider's are put together here. */
export const SECRETS: readonly string[] = [
  "plainletters0nly",
  "with several spaces in it",
  "aGVsbG8+d29ybGQ/Zm9vYmFy==",
  'a "quoted" and \\back\\slashed one',
  "naïve-ünïcödé-секрет-秘密",
  "100%-sure%20it%2Fis",
  "?query=a&b=c#fragment;d",
  "L0ng".repeat(60),
  "deadbeefcafef00d0123456789abcdef",
  "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
  ["ghp", "_abcdefghijklmnopqrstuvwxyz0123456789"].join(""),
  [
    "-----BEGIN ",
    "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----",
  ].join(""),
  "🔑-emoji-🗝️-key",
  "Zq7!x_",
  "regex.*+?^${}()|[]\\end",
  "tab\there\tand\tthere",
  "<b>html</b>&amp;'apos'",
  ["eyJ", "hbGciOiJIUzI1NiJ9.eyJ", "zdWIiOiJhbm4ifQ.c2lnbmF0dXJl"].join(""),
  "~tilde!bang'quote(paren)*star",
  "postgres://user:p@ss:w/rd@host:5432/db",
];

/** Ways in which a server may repeat what it was given. */
export const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  raw: (secret) => secret,
  base64: (secret) => Buffer.from(secret).toString("base64"),
  inside: (secret) => Buffer.from(`user:${secret}, and more`).toString("base64"),
  url: (secret) => encodeURIComponent(secret),
};

/** What must be found nowhere: the secret in each form, and its core in a larger base64. */
export function tracesOf(secret: string): readonly string[] {
  const inside = Buffer.from(`user:${secret}`).toString("base64").replace(/=+$/, "").slice(7, -1);
  return [
    secret,
    Buffer.from(secret).toString("base64").replace(/=+$/, ""),
    Buffer.from(secret).toString("base64url"),
    inside,
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll(/%../g, (octet) => octet.toLowerCase()),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("hex"),
  ];
}

/** A text in three parts. */
export function thirds(text: string): readonly string[] {
  const cut = Math.ceil(text.length / 3);
  return [text.slice(0, cut), text.slice(cut, 2 * cut), text.slice(2 * cut)];
}
