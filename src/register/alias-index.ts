import type { Tool } from "../tool/tool.ts";

/** How ids are spelled for models, and read back. */
export interface AliasSpelling {
  readonly toAlias: (id: string) => string;
  /** The id, or undefined where the alias was cut. */
  readonly fromAlias: (alias: string) => string | undefined;
  /** True for an alias from which the id cannot be read. */
  readonly isCutAlias: (alias: string) => boolean;
}

/** Finds tools by the names models see. */
export interface AliasIndex {
  find(alias: string): Tool | undefined;
}

/**
 * Most aliases are read back to the id they stand for. Those that were cut are remembered from the first search for one, which looks at every
 * id; an alias stands for the same id for ever, so what is remembered stays true.
 */
export function createAliasIndex(
  { toAlias, fromAlias, isCutAlias }: AliasSpelling,
  tools: { readonly current: (id: string) => Tool | undefined; readonly all: () => Iterable<Tool> },
): AliasIndex {
  const cut = new Map<string, string>();

  function remember(): void {
    cut.clear();
    for (const { id } of tools.all()) {
      const alias = toAlias(id);
      if (isCutAlias(alias)) cut.set(alias, id);
    }
  }

  return {
    find(alias) {
      if (isCutAlias(alias)) {
        if (!cut.has(alias)) remember();
        return tools.current(cut.get(alias) ?? "");
      }
      const id = fromAlias(alias);
      return id === undefined ? undefined : tools.current(id);
    },
  };
}
