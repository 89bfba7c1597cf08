import { isPlainObject } from "../../../tool/json-schema.ts";
import { arrayRules, objectRules, type Holds } from "./member-rules.ts";
import { hasUnevaluated } from "./keywords.ts";
import type { Patterns } from "./patterns.ts";
import type { ReadSchema, ReadSchemas } from "./references.ts";
import { fail, mergeSpoken, type Place, quietly, type Run, spend, type Spoken } from "./run.ts";
import { valueRules } from "./value-rules.ts";

type SchemaObject = Readonly<Record<string, unknown>>;

/** One keyword of a schema. */
export type Rule = (value: unknown, place: Place | undefined, run: Run, spoken: Spoken | undefined) => boolean;

/**
 * What holds values against schemas that were read. It makes rules of a schema when a value first meets it, and remembers them: the parts
 * of a huge schema that nobody uses cost nothing.
 */
export function createEvaluator({ schemas }: ReadSchemas, patterns: Patterns): Holds {
  const known = new Map<SchemaObject, readonly Rule[]>();

  const holds: Holds = (schema, value, place, run, spoken) => {
    if (schema === true) return true;
    if (!isPlainObject(schema)) {
      const message = "boolean schema is false";
      return fail(run, place, { keyword: "false schema", params: {}, message, data: value });
    }
    let rules = known.get(schema);
    if (!rules) known.set(schema, (rules = rulesOf(schema, schemas.get(schema))));
    run.depth++;
    spend(run, 1 + rules.length);
    // What is spoken of further out is not seen in here; what is spoken of in here is seen further out, where all of it holds.
    const own: Spoken | undefined =
      spoken || hasUnevaluated(schema) ? { names: new Set(), places: new Set() } : undefined;
    let valid = true;
    for (const rule of rules) {
      if (rule(value, place, run, own)) continue;
      valid = false;
      if (run.quiet > 0) break;
    }
    run.depth--;
    if (valid) mergeSpoken(spoken, own);
    return valid;
  };

  /** In the order in which Ajv takes them: members are looked at last, after defaults are filled in. */
  function rulesOf(schema: SchemaObject, read: ReadSchema | undefined): readonly Rule[] {
    return [
      ...valueRules(schema, patterns),
      ...[...(read?.references.values() ?? [])].map(
        (target): Rule =>
          (...given) =>
            holds(target, ...given),
      ),
      ...combinations(schema),
      ...arrayRules(schema, holds),
      ...objectRules(schema, holds, patterns),
    ];
  }

  function combinations(schema: SchemaObject): readonly Rule[] {
    const rules: Rule[] = [];
    const { allOf, anyOf, oneOf } = schema as { readonly [keyword: string]: readonly unknown[] | undefined };
    const failed = (run: Run, place: Place | undefined, keyword: string, message: string, data: unknown): false =>
      fail(run, place, { keyword, params: {}, message, data, parentSchema: schema });

    if (Object.hasOwn(schema, "not")) {
      rules.push((value, place, run) => {
        const matches = quietly(run, () => holds(schema["not"], value, place, run, undefined));
        return matches ? failed(run, place, "not", "must NOT be valid", value) : true;
      });
    }
    if (anyOf) rules.push(choice("anyOf", anyOf, (count) => count > 0, "must match a schema in anyOf"));
    if (oneOf) rules.push(choice("oneOf", oneOf, (count) => count === 1, "must match exactly one schema in oneOf"));
    if (allOf) {
      rules.push((value, place, run, spoken) => {
        let valid = true;
        for (const each of allOf) if (!holds(each, value, place, run, spoken)) valid = false;
        return valid;
      });
    }
    if (Object.hasOwn(schema, "if")) {
      rules.push((value, place, run, spoken) => {
        const branch = quietly(run, () => holds(schema["if"], value, place, run, spoken)) ? "then" : "else";
        return !Object.hasOwn(schema, branch) || holds(schema[branch], value, place, run, spoken);
      });
    }
    return rules;

    function choice(
      keyword: string,
      options: readonly unknown[],
      isRight: (count: number) => boolean,
      message: string,
    ): Rule {
      return (value, place, run, spoken) => {
        const before = run.failures.length;
        let count = 0;
        run.tentative++;
        for (const option of options) {
          if (holds(option, value, place, run, spoken)) count++;
          // What else fits makes no difference, unless it speaks of members that something else asks about.
          if (keyword === "anyOf" && count > 0 && !spoken) break;
        }
        run.tentative--;
        if (!isRight(count)) return failed(run, place, keyword, message, value);
        run.failures.length = before;
        return true;
      };
    }
  }

  return holds;
}
