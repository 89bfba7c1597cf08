import type * as Cel from "@bufbuild/cel";
import {
  type CelLibrary,
  type CelNode,
  inPlace,
  loadCel,
  nestingOf,
  shortMessage,
  syntaxProblem,
  toCelInput,
} from "../../cel.ts";

const MAX_LENGTH = 4_000;
const MAX_NESTING = 24;

export type Variables = Readonly<Record<string, unknown>>;

export interface Expression {
  readonly text: string;
  readonly root: CelNode;
  /** Adds the position of a node to a message. */
  placed(node: CelNode, message: string): string;
  /** Returns the value as plain data. Throws if it cannot be computed. */
  evaluate(variables: Variables): unknown;
}

/** Compiles an expression. `problem` completes a sentence after "does not compile". */
export function compileExpression(text: string): Expression | { readonly problem: string } {
  if (text.length > MAX_LENGTH) return { problem: `: it has ${text.length} characters; the limit is ${MAX_LENGTH}` };
  if (nestingOf(text) > MAX_NESTING) return { problem: `: it nests brackets deeper than ${MAX_NESTING}` };
  const { cel, environment } = library();
  let parsed: ReturnType<typeof Cel.parse>;
  try {
    parsed = cel.parse(text);
  } catch (error) {
    return { problem: syntaxProblem(error) };
  }
  const run = cel.plan(environment, parsed);
  const positions = parsed.sourceInfo?.positions ?? {};
  return {
    text,
    root: parsed.expr as CelNode,
    placed: ({ id }, message) => inPlace(message, text, positions[String(id)]),
    evaluate(variables) {
      const value = run(toInputs(variables, cel));
      if (cel.isCelError(value)) throw new Error(shortMessage(value));
      return toPlain(value, cel);
    },
  };
}

/** True if the library has a function of this name. */
export function isFunction(name: string): boolean {
  return library().environment.funcs.find(name) !== undefined;
}

/** Loaded on the first expression. */
let loaded: CelLibrary | undefined;
const library = (): CelLibrary => (loaded ??= loadCel(mixedArithmetic));

/** Numbers in JSON are doubles in CEL. These functions allow an expression to add 1 to such a number. */
function mixedArithmetic({ celFunc, CelScalar: { INT, DOUBLE } }: typeof Cel): readonly Cel.CelFunc[] {
  const operators: Readonly<Record<string, (one: number, other: number) => number>> = {
    "_+_": (one, other) => one + other,
    "_-_": (one, other) => one - other,
    "_*_": (one, other) => one * other,
    "_/_": (one, other) => one / other,
  };
  return Object.entries(operators).flatMap(([name, compute]) => [
    celFunc(name, [INT, DOUBLE], DOUBLE, (one, other) => compute(Number(one), other)),
    celFunc(name, [DOUBLE, INT], DOUBLE, (one, other) => compute(one, Number(other))),
  ]);
}

/** Converts each variable only when the expression reads it. */
function toInputs(variables: Variables, cel: typeof Cel): Record<string, Cel.CelInput> {
  const inputs: Record<string, Cel.CelInput> = {};
  for (const [name, value] of Object.entries(variables))
    Object.defineProperty(inputs, name, { enumerable: true, get: () => toCelInput(value, cel) });
  return inputs;
}

function toPlain(value: unknown, cel: typeof Cel): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (cel.isCelUint(value)) return Number(value.value);
  if (cel.isCelList(value)) return Array.from(value, (member) => toPlain(member, cel));
  if (cel.isCelMap(value))
    return Object.fromEntries(Array.from(value, ([key, member]) => [String(key), toPlain(member, cel)]));
  throw new Error("its value is not plain data; convert it with string()");
}
