import { isPlainObject } from "../../../tool/json-schema.ts";
import { copyValue } from "./copy-value.ts";
import type { Rule } from "./evaluate.ts";
import type { Patterns } from "./patterns.ts";
import { fail, type Place, type Run, spend, type Spoken } from "./run.ts";
import { matches, sizeOf, tooFew, tooMany } from "./value-rules.ts";

type SchemaObject = Readonly<Record<string, unknown>>;
type Members = Record<string, unknown>;

/** Holds a value against a schema, and says of which members that schema has spoken. */
export type Holds = (
  schema: unknown,
  value: unknown,
  place: Place | undefined,
  run: Run,
  spoken: Spoken | undefined,
) => boolean;

/** Makes one rule of the keywords about the items of an array. */
export function arrayRules(schema: SchemaObject, holds: Holds): readonly Rule[] {
  const { prefixItems, items, additionalItems, contains, unevaluatedItems } = schema;
  const first = (Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []) as readonly unknown[];
  const rest = Array.isArray(items) ? additionalItems : items;
  if (first.length === 0 && rest === undefined && contains === undefined && unevaluatedItems === undefined) return [];
  const least = Number(schema["minContains"] ?? 1);
  const most = Number(schema["maxContains"] ?? Infinity);

  return [
    (value, place, run, spoken) => {
      if (!Array.isArray(value)) return true;
      if (run.tentative === 0 && Array.isArray(items)) fillItems(value, items);
      let valid = true;
      const check = (each: unknown, index: number): void => {
        spoken?.places.add(index);
        if (!holds(each, value[index], { around: place, member: index }, run, undefined)) valid = false;
      };
      first.slice(0, value.length).forEach(check);
      if (rest === false && value.length > first.length) {
        valid = tooLong("items", first.length);
        for (let index = first.length; index < value.length; index++) spoken?.places.add(index);
      } else if (rest !== undefined) {
        for (let index = first.length; index < value.length; index++) check(rest, index);
      }
      if (contains !== undefined && !containsEnough(value)) valid = false;
      if (unevaluatedItems !== undefined) {
        for (let index = 0; index < value.length; index++) {
          if (spoken?.places.has(index)) continue;
          if (unevaluatedItems !== false) check(unevaluatedItems, index);
          else {
            valid = tooLong("unevaluatedItems", index);
            break;
          }
        }
      }
      return valid;

      function tooLong(keyword: string, limit: number): false {
        const said = { keyword, params: {}, message: tooMany(limit, "items"), data: value, parentSchema: schema };
        return fail(run, place, said);
      }

      function containsEnough(list: readonly unknown[]): boolean {
        let count = 0;
        const before = run.failures.length;
        run.tentative++;
        for (let index = 0; index < list.length; index++) {
          if (!holds(contains, list[index], { around: place, member: index }, run, undefined)) continue;
          count++;
          spoken?.places.add(index);
        }
        run.tentative--;
        if (count < least || count > most) {
          const upTo = most === Infinity ? "" : ` and no more than ${most}`;
          const message = `must contain at least ${least}${upTo} valid item(s)`;
          return fail(run, place, { keyword: "contains", params: {}, message, data: list, parentSchema: schema });
        }
        run.failures.length = before;
        return true;
      }
    },
  ];
}

/** Makes rules of the keywords about the members of an object. Only own members count. */
export function objectRules(schema: SchemaObject, holds: Holds, patterns: Patterns): readonly Rule[] {
  const { minProperties, maxProperties, propertyNames } = schema;
  const rules: Rule[] = [];
  const add = (
    rule: (value: Members, place: Place | undefined, run: Run, spoken: Spoken | undefined) => boolean,
  ): void => {
    rules.push((value, ...rest) => !isPlainObject(value) || rule(value, ...rest));
  };
  const failed = (
    run: Run,
    place: Place | undefined,
    keyword: string,
    data: Members,
    said: { readonly message?: string; readonly params?: SchemaObject },
  ): false => fail(run, place, { keyword, params: {}, data, parentSchema: schema, ...said });
  const missing = (
    run: Run,
    place: Place | undefined,
    keyword: string,
    data: Members,
    names: readonly string[],
  ): boolean => {
    let valid = true;
    spend(run, names.length);
    for (const name of names) {
      if (!Object.hasOwn(data, name)) valid = failed(run, place, keyword, data, { params: { missingProperty: name } });
    }
    return valid;
  };

  const properties = isPlainObject(schema["properties"]) ? schema["properties"] : undefined;
  const defaults = Object.entries(properties ?? {}).flatMap(([name, each]) => {
    const given = isPlainObject(each) ? each["default"] : undefined;
    return given === undefined ? [] : [{ name, given, cost: sizeOf(given) }];
  });
  if (defaults.length > 0) {
    add((value, _place, run) => {
      if (run.tentative > 0) return true;
      for (const { name, given, cost } of defaults) {
        spend(run, 1);
        if (Object.hasOwn(value, name)) continue;
        spend(run, cost);
        setOwn(value, name, copyValue(given));
      }
      return true;
    });
  }
  if (typeof maxProperties === "number") {
    add(
      (value, place, run) =>
        countMembers(value, run) <= maxProperties ||
        failed(run, place, "maxProperties", value, { message: tooMany(maxProperties, "properties") }),
    );
  }
  if (typeof minProperties === "number") {
    add(
      (value, place, run) =>
        countMembers(value, run) >= minProperties ||
        failed(run, place, "minProperties", value, { message: tooFew(minProperties, "properties") }),
    );
  }
  if (Array.isArray(schema["required"])) {
    const required = schema["required"] as readonly string[];
    add((value, place, run) => missing(run, place, "required", value, required));
  }
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
    for (const [name, wanted] of Object.entries((schema[keyword] as SchemaObject | undefined) ?? {})) {
      add((value, place, run, spoken) => {
        if (!Object.hasOwn(value, name)) return true;
        return Array.isArray(wanted)
          ? missing(run, place, keyword, value, wanted as readonly string[])
          : holds(wanted, value, place, run, spoken);
      });
    }
  }
  if (propertyNames !== undefined) {
    add((value, place, run) => {
      let valid = true;
      for (const name of Object.keys(value)) {
        if (holds(propertyNames, name, place, run, undefined)) continue;
        valid = failed(run, place, "propertyNames", value, { message: "property name must be valid" });
      }
      return valid;
    });
  }
  const membersRule = memberRule(schema, properties, holds, patterns);
  if (membersRule) add(membersRule);
  return rules;
}

/** Each member against every schema that speaks of it: by its name, by a pattern, or as one of the others. */
function memberRule(
  schema: SchemaObject,
  properties: SchemaObject | undefined,
  holds: Holds,
  known: Patterns,
): ((value: Members, place: Place | undefined, run: Run, spoken: Spoken | undefined) => boolean) | undefined {
  const { additionalProperties, unevaluatedProperties } = schema;
  const patterns = Object.entries((schema["patternProperties"] as SchemaObject | undefined) ?? {}).map(
    ([source, each]) => ({
      pattern: known.get(source),
      each,
    }),
  );
  const isEmpty = properties === undefined && patterns.length === 0;
  if (isEmpty && additionalProperties === undefined && unevaluatedProperties === undefined) return undefined;

  return (value, place, run, spoken) => {
    let valid = true;
    const check = (name: string, each: unknown, keyword?: string): boolean => {
      if (keyword !== undefined && each === false) {
        const param = keyword === "additionalProperties" ? "additionalProperty" : "unevaluatedProperty";
        return fail(run, place, { keyword, params: { [param]: name }, data: value, parentSchema: schema });
      }
      return holds(each, value[name], { around: place, member: name }, run, undefined);
    };
    const names = Object.keys(value);
    spend(run, names.length);
    for (const name of names) {
      let isSpoken = false;
      if (properties && Object.hasOwn(properties, name)) {
        isSpoken = true;
        if (!check(name, properties[name])) valid = false;
      }
      for (const { pattern, each } of patterns) {
        if (!matches(pattern, name, run)) continue;
        isSpoken = true;
        // Whether the name is meant may not be known: then neither is it one of the others, nor does the schema apply.
        if (pattern?.isIgnored !== true && !check(name, each)) valid = false;
      }
      if (!isSpoken && additionalProperties !== undefined) {
        isSpoken = true;
        if (!check(name, additionalProperties, "additionalProperties")) valid = false;
      }
      if (isSpoken) spoken?.names.add(name);
    }
    if (unevaluatedProperties === undefined) return valid;
    for (const name of names) {
      if (spoken?.names.has(name)) continue;
      spoken?.names.add(name);
      if (!check(name, unevaluatedProperties, "unevaluatedProperties")) valid = false;
    }
    return valid;
  };
}

function countMembers(value: Members, run: Run): number {
  const { length } = Object.keys(value);
  spend(run, length / 8);
  return length;
}

function fillItems(value: unknown[], first: readonly unknown[]): void {
  first.forEach((each, index) => {
    const given = isPlainObject(each) ? each["default"] : undefined;
    if (given !== undefined && index === value.length) value.push(copyValue(given));
  });
}

/** Assigning to `__proto__` would set the prototype instead. */
function setOwn(members: Members, name: string, value: unknown): void {
  Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
}
