/** A JSON Pointer one step further down. */
export function below(pointer: string, ...tokens: readonly (string | number)[]): string {
  return tokens.reduce<string>(
    (path, token) => `${path}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    pointer,
  );
}

/** The steps of a JSON Pointer; undefined where it is none. */
export function tokensOf(pointer: string): readonly string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) return undefined;
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}
