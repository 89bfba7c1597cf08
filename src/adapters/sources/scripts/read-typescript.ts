import { readFile } from "node:fs/promises";
import type * as Ast from "typescript/unstable/ast";
import { fixable } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import {
  chosenEntries,
  type Declaration,
  type Field,
  type ReadScripts,
  type ScriptProblem,
  Undeclarable,
} from "./declaration.ts";
import {
  bracketDefault,
  createFileTypes,
  type FileTypes,
  type DeclaredField,
  withoutDash,
} from "./typescript-types.ts";

/** A virtual file from which the compiler gets the list of files. */
const PROJECT = "/toolarsenal-scripts/tsconfig.json";

/** Reads the exported functions of TypeScript and JavaScript modules with TypeScript's own parser. Runs nothing and reads no other file. */
export async function readTypeScript(paths: readonly string[], signal: AbortSignal): Promise<ReadScripts> {
  const { API, ast } = await loadTypeScript();
  const texts = new Map<string, string>();
  for (const path of paths) {
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text !== undefined) texts.set(path, text);
  }
  const compilerOptions = { allowJs: true, noLib: true, noResolve: true, types: [] };
  texts.set(PROJECT, JSON.stringify({ compilerOptions, files: paths }));
  const api = new API({
    cwd: "/",
    fs: {
      readFile: (path) => texts.get(path) ?? null,
      fileExists: (path) => texts.has(path),
      directoryExists: () => true,
      getAccessibleEntries: () => ({ files: [], directories: [] }),
      realpath: (path) => path,
    },
  });
  const declarations: Declaration[] = [];
  const problems: ScriptProblem[] = [];
  const stop = (): void => void api.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [PROJECT] });
    const program = snapshot.getProjects()[0]?.program;
    for (const file of paths) {
      const source = await program?.getSourceFile(file);
      const [wrong] = (await program?.getSyntacticDiagnostics(file)) ?? [];
      if (source === undefined) problems.push({ file, reason: "TypeScript cannot read it." });
      else if (wrong === undefined) readModule(file, source, { ast, declarations, problems });
      else problems.push({ file, line: source.getLineAndCharacterOfPosition(wrong.pos).line + 1, reason: wrong.text });
    }
  } finally {
    signal.removeEventListener("abort", stop);
    await api.close();
  }
  return { declarations, problems };
}

async function loadTypeScript() {
  try {
    const [{ API }, ast] = await Promise.all([import("typescript/unstable/async"), import("typescript/unstable/ast")]);
    return { API, ast };
  } catch (cause) {
    const problem = "Tools in TypeScript and JavaScript files need TypeScript 7 to read them:";
    throw fixable("LIBRARY_MISSING", problem, "npm install typescript@7", { cause });
  }
}

function readModule(
  file: string,
  source: Ast.SourceFile,
  { ast, declarations, problems }: { ast: typeof Ast; declarations: Declaration[]; problems: ScriptProblem[] },
): void {
  const types = createFileTypes(ast, source);
  const functions = exportedFunctions(ast, source);
  const entries = chosenEntries([...functions.keys()]);
  for (const entry of entries) {
    const found = functions.get(entry);
    if (found === undefined) continue;
    try {
      declarations.push({ file, language: "node", entry, ...readFunction(found, { ast, source, types }) });
    } catch (error) {
      const line = error instanceof Undeclarable ? error.line : types.lineOf(found.node);
      problems.push({ file, line, reason: `${entry}: ${messageOf(error)}` });
    }
  }
  if (entries.length === 0) problems.push({ file, reason: "It exports no function." });
}

type FunctionNode = Ast.FunctionDeclaration | Ast.FunctionExpression | Ast.ArrowFunction | Ast.MethodDeclaration;

/** A function, and the statement with its doc comment. */
interface DescribedFunction {
  readonly node: FunctionNode;
  readonly statement: Ast.Node;
}

/** Returns the functions that a module exports, by exported name. Supports ECMAScript and CommonJS exports. */
function exportedFunctions(ast: typeof Ast, source: Ast.SourceFile): ReadonlyMap<string, DescribedFunction> {
  const { SyntaxKind } = ast;
  const local = new Map<string, DescribedFunction>();
  const exported = new Map<string, DescribedFunction>();
  const isFunction = (node: Ast.Node): node is FunctionNode =>
    ast.isFunctionDeclaration(node) ||
    ast.isFunctionExpression(node) ||
    ast.isArrowFunction(node) ||
    ast.isMethodDeclaration(node);
  const add = (name: string, value: Ast.Node, statement: Ast.Node): void => {
    const named = ast.isIdentifier(value) ? local.get(value.text) : undefined;
    const found = isFunction(value) ? { node: value, statement } : named;
    if (found !== undefined) exported.set(name, found);
  };
  const has = (statement: Ast.FunctionDeclaration | Ast.VariableStatement, kind: Ast.SyntaxKind): boolean =>
    statement.modifiers?.some((modifier) => modifier.kind === kind) === true;

  for (const statement of source.statements) {
    if (ast.isFunctionDeclaration(statement) && statement.name !== undefined && statement.body !== undefined)
      local.set(statement.name.text, { node: statement, statement });
    if (!ast.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations)
      if (initializer !== undefined && isFunction(initializer) && ast.isIdentifier(name))
        local.set(name.text, { node: initializer, statement });
  }
  for (const statement of source.statements) {
    if (ast.isFunctionDeclaration(statement) && has(statement, SyntaxKind.ExportKeyword)) {
      const name = has(statement, SyntaxKind.DefaultKeyword) ? "default" : statement.name?.text;
      if (name !== undefined && statement.body !== undefined) add(name, statement, statement);
    } else if (ast.isVariableStatement(statement) && has(statement, SyntaxKind.ExportKeyword)) {
      for (const { name } of statement.declarationList.declarations)
        if (ast.isIdentifier(name)) add(name.text, name, statement);
    } else if (ast.isExportAssignment(statement)) add("default", statement.expression, statement);
    else if (ast.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement;
      if (moduleSpecifier !== undefined || exportClause === undefined || !ast.isNamedExports(exportClause)) continue;
      for (const { name, propertyName } of exportClause.elements) add(name.text, propertyName ?? name, statement);
    } else if (ast.isExpressionStatement(statement)) addCommonJs(statement);
  }
  return exported;

  /** `exports.NAME = …`, `module.exports.NAME = …` and `module.exports = …`. */
  function addCommonJs(statement: Ast.ExpressionStatement): void {
    const { expression } = statement;
    if (!ast.isBinaryExpression(expression) || expression.operatorToken.kind !== SyntaxKind.EqualsToken) return;
    const { left, right } = expression;
    if (!ast.isPropertyAccessExpression(left)) return;
    if (isModuleExports(left)) {
      if (!ast.isObjectLiteralExpression(right)) return add("default", right, statement);
      for (const member of right.properties) {
        if (ast.isShorthandPropertyAssignment(member)) add(nameOf(member), member.name, member);
        else if (ast.isPropertyAssignment(member)) add(nameOf(member), member.initializer, member);
        else if (ast.isMethodDeclaration(member)) add(nameOf(member), member, member);
      }
    } else if (isModuleExports(left.expression) || isNamed(left.expression, "exports"))
      add(left.name.text, right, statement);
  }

  function nameOf({ name }: { readonly name: Ast.Node }): string {
    return ast.isIdentifier(name) ? name.text : "_";
  }

  function isModuleExports(node: Ast.Node): boolean {
    return ast.isPropertyAccessExpression(node) && isNamed(node.expression, "module") && node.name.text === "exports";
  }

  function isNamed(node: Ast.Node, name: string): boolean {
    return ast.isIdentifier(node) && node.text === name;
  }
}

interface ModuleParts {
  readonly ast: typeof Ast;
  readonly source: Ast.SourceFile;
  readonly types: FileTypes;
}

function readFunction(
  { node, statement }: DescribedFunction,
  { ast, source, types }: ModuleParts,
): Pick<Declaration, "line" | "description" | "fields" | "takesObject"> {
  const tags = paramTags(statement, { ast, source, types });
  const parameters = node.parameters.filter(({ name }) => !(ast.isIdentifier(name) && name.text === "this"));
  const head = { line: types.lineOf(node), description: types.commentOf(statement) };
  const [only, ...others] = parameters;
  const properties = only !== undefined && others.length === 0 ? objectProperties(only) : undefined;
  if (only !== undefined && properties !== undefined) {
    const bound = boundDefaults(only);
    const fields = properties.map((property): Field => {
      const tag = tags.get(property.name);
      return types.toField({ ...property, ...describedBy(tag, property), initializer: bound.get(property.name) });
    });
    return { ...head, fields, takesObject: true };
  }
  const fields = parameters.map((parameter) => {
    const { name, type, initializer, questionToken, dotDotDotToken } = parameter;
    if (dotDotDotToken !== undefined) throw new Undeclarable(types.lineOf(parameter), "a rest parameter has no names");
    if (!ast.isIdentifier(name)) throw new Undeclarable(types.lineOf(parameter), "a parameter needs a name or a type");
    const optional = questionToken !== undefined;
    const tag = tags.get(name.text);
    return types.toField({ ...describedBy(tag, {}), name: name.text, node: parameter, type, initializer, optional });
  });
  return { ...head, fields };

  /** Returns the properties of a function's single object parameter; undefined for any other parameter. */
  function objectProperties({ type, name }: Ast.ParameterDeclaration): readonly DeclaredField[] | undefined {
    if (type !== undefined) return types.propertiesOf(type);
    const declared = types.named("Args");
    if (declared !== undefined) return types.propertiesOf(declared);
    if (!ast.isObjectBindingPattern(name)) return undefined;
    return name.elements.flatMap((element) => {
      const key = element.propertyName ?? element.name;
      if (key === undefined || !ast.isIdentifier(key) || element.dotDotDotToken !== undefined) return [];
      return [{ name: key.text, node: element, optional: element.initializer !== undefined }];
    });
  }

  /** Returns the defaults in `({ query, limit = 10 })`. */
  function boundDefaults({ name }: Ast.ParameterDeclaration): ReadonlyMap<string, Ast.Expression> {
    const elements = ast.isObjectBindingPattern(name) ? [...name.elements] : [];
    const entries = elements.flatMap(({ propertyName, name: own, initializer }) => {
      const key = propertyName ?? own;
      return key && ast.isIdentifier(key) && initializer ? [[key.text, initializer] as const] : [];
    });
    return new Map(entries);
  }
}

/** Adds the description of a field's `@param` tag. */
function describedBy(
  tag: ParamTag | undefined,
  said: Pick<DeclaredField, "description" | "written">,
): Pick<DeclaredField, "description" | "written"> {
  return { description: said.description || tag?.description, written: said.written ?? tag?.written };
}

interface ParamTag {
  readonly description: string;
  readonly written: string | undefined;
}

/** Returns the `@param` tags above a function, by the last segment of their name. */
function paramTags(statement: Ast.Node, { ast, source }: ModuleParts): ReadonlyMap<string, ParamTag> {
  const tags = (statement.jsDoc ?? []).flatMap((doc) => (ast.isJSDoc(doc) ? (doc.tags ?? []) : []));
  return new Map(
    tags.filter(ast.isJSDocParameterTag).map(({ name, comment }) => {
      const description = withoutDash(ast.getTextOfJSDocComment(comment) ?? "");
      const last = ast.isIdentifier(name) ? name : name.right;
      return [last.text, { description, written: bracketDefault(source.text, last.end) }];
    }),
  );
}
