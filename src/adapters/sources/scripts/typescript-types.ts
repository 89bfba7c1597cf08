import type * as Ast from "typescript/unstable/ast";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import {
  type Field,
  literalSchema,
  oneLine,
  readLiteral,
  toEnum,
  toObjectSchema,
  typeOf,
  Undeclarable,
} from "./declaration.ts";

export type FileTypes = ReturnType<typeof createFileTypes>;

export interface DeclaredField {
  readonly name: string;
  readonly node: Ast.Node;
  readonly type?: Ast.TypeNode | undefined;
  readonly optional: boolean;
  /** A default value, as code. */
  readonly initializer?: Ast.Expression | undefined;
  /** A default value from a comment. */
  readonly written?: string | undefined;
  readonly description?: string | undefined;
}

/** Types by the name of an alias, because TypeScript has only one type of number. */
const NUMBERS: Record<string, string> = { int: "integer", integer: "integer", float: "number", double: "number" };

/** JSON types. JSDoc may capitalise them. */
const PLAIN: ReadonlySet<string> = new Set(["string", "number", "boolean", "object"]);
const ANYTHING: ReadonlySet<string> = new Set(["any", "unknown", "*"]);

/** Reads the types of a file from its syntax alone, without following imports. TypeScript parses JSDoc types of JavaScript to the same nodes. */
export function createFileTypes(ast: typeof Ast, source: Ast.SourceFile) {
  const { SyntaxKind } = ast;
  const declared = new Map<string, Ast.InterfaceDeclaration | Ast.TypeAliasDeclaration>();
  for (const statement of source.statements)
    if (ast.isInterfaceDeclaration(statement) || isAlias(statement)) declared.set(statement.name.text, statement);
  /** Declarations that are currently read, for their schema or their properties. Detects cycles. */
  const open = { schema: new Set<Ast.Node>(), properties: new Set<Ast.Node>() };

  function isAlias(node: Ast.Node): node is Ast.TypeAliasDeclaration {
    return node.kind === SyntaxKind.TypeAliasDeclaration || node.kind === SyntaxKind.JSTypeAliasDeclaration;
  }

  function lineOf(node: Ast.Node): number {
    return source.getLineAndCharacterOfPosition(ast.skipTrivia(source.text, node.pos)).line + 1;
  }

  function textOf(node: Ast.Node): string {
    return source.text.slice(ast.skipTrivia(source.text, node.pos), node.end);
  }

  /** Reads a declaration unless it is already being read. */
  function within<Result>(
    what: keyof typeof open,
    node: Ast.InterfaceDeclaration | Ast.TypeAliasDeclaration,
    read: () => Result,
  ): Result {
    if (open[what].has(node)) throw new Undeclarable(lineOf(node), `the type ${node.name.text} contains itself`);
    open[what].add(node);
    try {
      return read();
    } finally {
      open[what].delete(node);
    }
  }

  /** Returns the type of an alias. */
  function named(name: string): Ast.TypeNode | undefined {
    const found = declared.get(name);
    return found !== undefined && isAlias(found) ? found.type : undefined;
  }

  function schemaOf(type: Ast.TypeNode): JsonSchema {
    const found = ast.isTypeReferenceNode(type) ? declared.get(textOf(type.typeName)) : undefined;
    return found === undefined ? ownSchema(type) : within("schema", found, () => ownSchema(type));
  }

  function ownSchema(type: Ast.TypeNode): JsonSchema {
    const values = ast.isTypeLiteralNode(type) && type.members.length === 1 ? type.members[0] : undefined;
    if (values !== undefined && ast.isIndexSignatureDeclaration(values))
      return { type: "object", additionalProperties: schemaOf(values.type) };
    const properties = propertiesOf(type);
    if (properties !== undefined) return toObjectSchema(properties.map(toField));
    if (ast.isParenthesizedTypeNode(type) || ast.isTypeOperatorNode(type)) return schemaOf(type.type);
    if (ast.isJSDocNullableType(type)) return { anyOf: [schemaOf(type.type), { type: "null" }] };
    if (ast.isJSDocOptionalType(type) || ast.isJSDocNonNullableType(type)) return schemaOf(type.type);
    if (ast.isArrayTypeNode(type)) return { type: "array", items: schemaOf(type.elementType) };
    if (ast.isTypeReferenceNode(type)) return referenceSchema(type);
    if (ast.isUnionTypeNode(type)) return unionSchema(type.types);
    if (ast.isLiteralTypeNode(type)) return unionSchema([type]);
    return plainSchema(type);
  }

  function plainSchema(type: Ast.TypeNode): JsonSchema {
    const word = textOf(type);
    if (PLAIN.has(word.toLowerCase())) return { type: word.toLowerCase() };
    if (ANYTHING.has(word)) return {};
    throw unreadable(type);
  }

  function referenceSchema(type: Ast.TypeReferenceNode): JsonSchema {
    const name = textOf(type.typeName);
    const [first, second] = type.typeArguments ?? [];
    const number = NUMBERS[name.toLowerCase()];
    if (number !== undefined) return { type: number };
    if (name === "Array" || name === "ReadonlyArray")
      return { type: "array", ...(first && { items: schemaOf(first) }) };
    if ((name === "Record" || name === "Object") && second)
      return { type: "object", additionalProperties: schemaOf(second) };
    const alias = named(name);
    return alias === undefined ? plainSchema(type) : schemaOf(alias);
  }

  function unionSchema(types: readonly Ast.TypeNode[]): JsonSchema {
    const parts = types.flatMap(flat).filter(({ kind }) => kind !== SyntaxKind.UndefinedKeyword);
    const values = parts.map((part) => (ast.isLiteralTypeNode(part) ? valueOf(part.literal) : undefined));
    const literals = values.filter((value) => value !== undefined);
    const others = parts.filter((_, index) => values[index] === undefined).map(schemaOf);
    if (others.length === 0) return toEnum(literals);
    if (others.length === 1 && literals.length === 0) return others[0] ?? {};
    const rest = literals.filter((value) => value !== null);
    const nulls = literals.includes(null) ? [{ type: "null" }] : [];
    return { anyOf: [...others, ...(rest.length === 0 ? [] : [toEnum(rest)]), ...nulls] };
  }

  function flat(type: Ast.TypeNode): readonly Ast.TypeNode[] {
    if (ast.isParenthesizedTypeNode(type)) return flat(type.type);
    return ast.isUnionTypeNode(type) ? type.types.flatMap(flat) : [type];
  }

  /** Evaluates an expression that is plain data. Returns undefined for any other expression. */
  function valueOf(node: Ast.Node): unknown {
    if (ast.isStringLiteral(node) || ast.isNoSubstitutionTemplateLiteral(node)) return node.text;
    if (ast.isNumericLiteral(node)) return Number(node.text);
    if (ast.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.MinusToken) {
      const inner = valueOf(node.operand);
      return typeof inner === "number" ? -inner : undefined;
    }
    if (node.kind === SyntaxKind.TrueKeyword) return true;
    if (node.kind === SyntaxKind.FalseKeyword) return false;
    if (node.kind === SyntaxKind.NullKeyword) return null;
    if (ast.isAsExpression(node) || ast.isSatisfiesExpression(node)) return valueOf(node.expression);
    if (ast.isArrayLiteralExpression(node)) {
      const items = node.elements.map(valueOf);
      return items.includes(undefined) ? undefined : items;
    }
    if (!ast.isObjectLiteralExpression(node)) return undefined;
    const members = node.properties.map((property) =>
      ast.isPropertyAssignment(property) ? ([nameText(property.name), valueOf(property.initializer)] as const) : [],
    );
    return members.some(([, value]) => value === undefined)
      ? undefined
      : Object.fromEntries(members as [string, unknown][]);
  }

  function nameText(name: Ast.Node): string {
    return "text" in name && typeof name.text === "string" ? name.text : textOf(name);
  }

  function propertiesOf(type: Ast.TypeNode): readonly DeclaredField[] | undefined {
    if (ast.isParenthesizedTypeNode(type)) return propertiesOf(type.type);
    if (ast.isTypeLiteralNode(type)) return membersOf(type.members);
    if (ast.isIntersectionTypeNode(type)) {
      const parts = type.types.map(propertiesOf);
      return parts.includes(undefined) ? undefined : overridden(parts.flatMap((part) => part ?? []));
    }
    if (!ast.isTypeReferenceNode(type)) return undefined;
    const name = textOf(type.typeName);
    const [first] = type.typeArguments ?? [];
    if (first !== undefined && (name === "Readonly" || name === "Partial")) {
      const properties = propertiesOf(first);
      return name === "Readonly" ? properties : properties?.map((property) => ({ ...property, optional: true }));
    }
    const found = declared.get(name);
    if (found === undefined) return undefined;
    return within("properties", found, () => {
      if (isAlias(found)) return propertiesOf(found.type);
      const bases = (found.heritageClauses ?? []).flatMap((clause) => clause.types.flatMap(inherited));
      return overridden([...bases, ...membersOf(found.members)]);
    });
  }

  function inherited(base: Ast.ExpressionWithTypeArguments): readonly DeclaredField[] {
    const found = declared.get(textOf(base.expression));
    if (found === undefined) throw unreadable(base);
    if (isAlias(found)) return propertiesOf(found.type) ?? [];
    return within("properties", found, () => [
      ...(found.heritageClauses ?? []).flatMap((clause) => clause.types.flatMap(inherited)),
      ...membersOf(found.members),
    ]);
  }

  function membersOf(members: readonly Ast.TypeElement[]): readonly DeclaredField[] {
    return members.map((member) => {
      if (!ast.isPropertySignatureDeclaration(member))
        throw new Undeclarable(lineOf(member), `${textOf(member)} is not a property with a name`);
      return {
        name: nameText(member.name),
        node: member,
        type: member.type,
        optional: member.postfixToken?.kind === SyntaxKind.QuestionToken,
        written: defaultTag(member) ?? bracketDefault(source.text, member.name.end),
        description: commentOf(member),
      };
    });
  }

  function defaultTag(node: Ast.Node): string | undefined {
    const tags = (node.jsDoc ?? []).flatMap((doc) => (ast.isJSDoc(doc) ? (doc.tags ?? []) : []));
    const tag = tags.find(({ tagName }) => tagName.text === "default" || tagName.text === "defaultValue");
    return tag && (ast.getTextOfJSDocComment(tag.comment) ?? "").trim().replace(/^`(.*)`$/s, "$1");
  }

  /** The text of the last non-empty JSDoc comment before the node. */
  function commentOf(node: Ast.Node): string {
    const texts = (node.jsDoc ?? []).map((doc) => (ast.isJSDoc(doc) ? ast.getTextOfJSDocComment(doc.comment) : ""));
    return withoutDash(texts.findLast((text) => text) ?? "");
  }

  function toField({ name, node, type, optional, initializer, written, description }: DeclaredField): Field {
    const text = initializer === undefined ? written : textOf(initializer);
    let schema = type === undefined ? {} : schemaOf(type);
    if (text !== undefined && (type === undefined || isPlainNumber(type))) schema = narrowed(text, initializer, type);
    const fallback = initializer === undefined ? undefined : valueOf(initializer);
    const literal = written !== undefined && initializer === undefined ? readLiteral(written, schema) : fallback;
    if (written !== undefined && initializer === undefined && literal === undefined)
      throw new Undeclarable(lineOf(node), `the default of ${name}, ${written}, does not fit its type`);
    const canBeLeftOut = optional || text !== undefined || (type !== undefined && flat(type).some(isUndefined));
    return {
      name,
      schema,
      required: !canBeLeftOut,
      ...(literal !== undefined && literal !== null && { default: literal }),
      description: oneLine(description ?? ""),
    };
  }

  function isPlainNumber(type: Ast.TypeNode): boolean {
    return flat(type)
      .filter((each) => !isUndefined(each))
      .every(({ kind }) => kind === SyntaxKind.NumberKeyword);
  }

  function isUndefined(type: Ast.TypeNode): boolean {
    return type.kind === SyntaxKind.UndefinedKeyword || ast.isJSDocOptionalType(type);
  }

  /** JavaScript has one type of number, so the default decides: `10` is an integer, `10.0` a number. */
  function narrowed(text: string, initializer: Ast.Expression | undefined, type: Ast.TypeNode | undefined): JsonSchema {
    const value = initializer === undefined ? undefined : valueOf(initializer);
    const kind = literalSchema(typeof value === "number" ? text.replaceAll("_", "") : text);
    if (kind["type"] !== "string") return kind;
    if (type !== undefined) return { type: "number" };
    if (initializer === undefined) return kind;
    const known = typeOf(value);
    return known === undefined ? {} : { type: known };
  }

  function unreadable(node: Ast.Node): Undeclarable {
    const reason = `the type ${textOf(node)} cannot be read; use types of JSON data, and declare them in this file`;
    return new Undeclarable(lineOf(node), reason);
  }

  return { toField, propertiesOf, named, lineOf, commentOf };
}

/** Keeps the last of several properties with the same name. */
function overridden(properties: readonly DeclaredField[]): readonly DeclaredField[] {
  return [...new Map(properties.map((property) => [property.name, property])).values()];
}

/** Returns the text of a JSDoc tag without the leading dash. */
export function withoutDash(text: string): string {
  return text.trim().replace(/^-\s+/, "");
}

/** Returns the default in `[name=default]`, which TypeScript skips: the text between the name and the closing bracket. */
export function bracketDefault(text: string, from: number): string | undefined {
  if (text[from] !== "=") return undefined;
  let depth = 0;
  let quote: string | undefined;
  for (let at = from + 1; at < text.length && text[at] !== "\n"; at++) {
    const character = text[at] ?? "";
    if (quote !== undefined) quote = character === quote ? undefined : quote;
    else if (`"'\``.includes(character)) quote = character;
    else if (character === "[") depth++;
    else if (character === "]" && depth-- === 0) return text.slice(from + 1, at).trim();
  }
  return undefined;
}
