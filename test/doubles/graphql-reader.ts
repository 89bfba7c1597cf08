/** A field of a query: `name(args) { fields }`. */
export interface QueryField {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly fields: readonly QueryField[];
}

/** A query that is not GraphQL. */
export class QuerySyntaxError extends Error {}

const TOKEN =
  /\s*(?:(?<text>"(?:[^"\\\n]|\\.)*")|(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<name>[_A-Za-z]\w*)|(?<sign>[{}()[\]:])|(?<comma>,))/y;

/** Reads the part of GraphQL that queries without variables, aliases and fragments are written in. Names as values are texts. */
export function readQuery(query: string): readonly QueryField[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (query.slice(TOKEN.lastIndex).trim() !== "") {
    const at = TOKEN.lastIndex;
    const groups = TOKEN.exec(query)?.groups;
    if (!groups) throw new QuerySyntaxError(`Syntax Error GraphQL request Unexpected character at ${at}`);
    if (groups["comma"] === undefined)
      tokens.push(groups["text"] ?? groups["number"] ?? groups["name"] ?? groups["sign"] ?? "");
  }
  let place = 0;
  const peek = (): string => tokens[place] ?? "";
  const next = (): string => tokens[place++] ?? "";
  const expected = (sign: string): void => {
    const found = next();
    if (found !== sign) throw new QuerySyntaxError(`Syntax Error GraphQL request Expected ${sign}, found ${found}`);
  };

  function value(): unknown {
    const token = next();
    if (token === "[") {
      const items: unknown[] = [];
      while (peek() !== "]") items.push(value());
      next();
      return items;
    }
    if (token === "{") return pairs("}");
    if (token.startsWith('"')) return JSON.parse(token);
    return /^-?\d/.test(token) ? Number(token) : token;
  }

  function pairs(end: string): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    while (peek() !== end) {
      const name = next();
      expected(":");
      found[name] = value();
    }
    next();
    return found;
  }

  function fields(): readonly QueryField[] {
    expected("{");
    const found: QueryField[] = [];
    while (peek() !== "}") {
      const name = next();
      if (!/^\w+$/.test(name)) throw new QuerySyntaxError(`Syntax Error GraphQL request Expected Name, found ${name}`);
      const args = peek() === "(" ? (next(), pairs(")")) : {};
      found.push({ name, args, fields: peek() === "{" ? fields() : [] });
    }
    next();
    return found;
  }

  return fields();
}
