/** The secret of an `Authorization: Bearer …` header; undefined where the header is absent or of another form. */
export function bearerCredential(header: unknown): string | undefined {
  return typeof header === "string" ? /^bearer +(?<secret>\S+) *$/i.exec(header)?.groups?.["secret"] : undefined;
}
