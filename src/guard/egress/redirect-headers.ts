/** Headers that carry secrets wherever they are sent. */
const SECRET_HEADERS: readonly string[] = ["authorization", "cookie", "proxy-authorization"];

/** The headers that may follow a redirect to another origin. `more` names others that carry secrets. */
export function withoutSecrets(
  headers: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Record<string, string> {
  const secret = new Set([...SECRET_HEADERS, ...more.map((name) => name.toLowerCase())]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secret.has(name.toLowerCase())));
}

/** The headers of a request that has lost its body. */
export function withoutBodyHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-/i.test(name)));
}
