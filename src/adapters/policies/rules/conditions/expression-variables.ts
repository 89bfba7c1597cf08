import type * as Cel from "@bufbuild/cel";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { Facts } from "./when.ts";

/** The variables of expressions, as the library takes them. Made when first asked for, once for each call; those of a tool, once. */
export function createVariables(
  cel: typeof Cel,
  timestamp: (ms: number) => Cel.CelInput,
): (facts: Facts) => Record<string, Cel.CelInput> {
  const byFacts = new WeakMap<Facts, Record<string, Cel.CelInput>>();
  const byTool = new WeakMap<object, Cel.CelInput>();

  /** The library's own map takes a key that holds null for one that is not there: `has(args.x)` would be false. */
  function toMap(object: Readonly<Record<string, unknown>>): Cel.CelInput {
    const entries = Object.entries(object).filter(([, member]) => member !== undefined);
    const map = cel.celMap(new Map(entries.map(([key, member]) => [key, toInput(member)])));
    return Object.assign(map, { has: (key: Parameters<typeof map.has>[0]) => map.get(key) !== undefined });
  }

  function toInput(value: unknown): Cel.CelInput {
    if (Array.isArray(value)) return value.map(toInput);
    // What is no JSON is left to the library, which refuses it where an expression looks at it.
    return isPlainObject(value) ? toMap(value) : (value as Cel.CelInput);
  }

  function toolOf(view: Readonly<Record<string, unknown>>): Cel.CelInput {
    let tool = byTool.get(view);
    if (tool === undefined) byTool.set(view, (tool = toMap(view)));
    return tool;
  }

  return (facts) => {
    const known = byFacts.get(facts);
    if (known !== undefined) return known;
    const made: Record<string, Cel.CelInput> = {};
    const offer = (name: string, make: () => Cel.CelInput): void => {
      let value: Cel.CelInput | undefined;
      Object.defineProperty(made, name, { get: () => (value ??= make()) });
    };
    offer("tool", () => toolOf(facts.tool));
    offer("principal", () => toMap(facts.principal));
    offer("args", () => toMap(facts.arguments));
    offer("now", () => timestamp(facts.now()));
    byFacts.set(facts, made);
    return made;
  };
}
