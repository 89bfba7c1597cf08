/** Words that are common in servers' names and do not name a product. */
const GENERIC = new Set("mcp server servers the tools tool api service main test for and with app".split(" "));

function productWords(namespace: string): ReadonlySet<string> {
  const bare = namespace.replace(/^@[^/]+\//, "");
  const words = [...(bare.match(/[A-Z]{2,}|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase())];
  words.push(bare.toLowerCase().replaceAll(/[^a-z0-9]|mcp|server/g, ""));
  return new Set(words.filter((word) => word.length > 2 && !GENERIC.has(word)));
}

/** The namespaces that may also serve a request, because their name shares an informative word with those that serve it, or with the request. */
export function sameProduct(homes: readonly string[], request: string, namespaces: readonly string[]): readonly string[] {
  const telling = new Set(homes.flatMap((home) => [...productWords(home)]));
  for (const word of request.toLowerCase().match(/\w+/g) ?? []) if (word.length > 3) telling.add(word);
  return namespaces.filter((name) => !homes.includes(name) && [...productWords(name)].some((word) => telling.has(word)));
}
