import { isPlainObject } from "../../../tool/json-schema.ts";
import { fail, type Holds, matches, type Rule, type Run, type SchemaObject, spend } from "./evaluate.ts";
import type { Patterns } from "./patterns.ts";
import { listed, type ValuePosition } from "./problems.ts";
import { limitRules, sizeOf } from "./value-rules.ts";

type Members = Record<string, unknown>;

export function arrayRules(schema: SchemaObject, holds: Holds): readonly Rule[] {
  const { prefixItems, items, additionalItems, contains, unevaluatedItems } = schema;
  const first = (Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []) as readonly unknown[];
  const rest = Array.isArray(items) ? additionalItems : items;
  if (first.length === 0 && rest === undefined && contains === undefined && unevaluatedItems === undefined) return [];
  const least = Number(schema["minContains"] ?? 1);
  const most = Number(schema["maxContains"] ?? Infinity);

  return [
    (value, place, run, evaluated) => {
      if (!Array.isArray(value)) return true;
      if (run.tentative === 0 && Array.isArray(items)) fillItems(value, items);
      let valid = true;
      const check = (each: unknown, index: number): void => {
        evaluated?.add(index);
        if (!holds(each, value[index], { around: place, member: index }, run, undefined)) valid = false;
      };
      const checkRest = (each: unknown, from: number, isMeant: (index: number) => boolean): void => {
        let length: number | undefined;
        for (let index = from; index < value.length; index++) {
          if (!isMeant(index)) continue;
          if (each === false) length ??= index;
          else check(each, index);
          evaluated?.add(index);
        }
        if (length === undefined) return;
        valid = fail(run, { place, value, expected: () => `a list of at most ${length} items` });
      };
      first.slice(0, value.length).forEach(check);
      if (rest !== undefined) checkRest(rest, first.length, () => true);
      if (contains !== undefined && !containsEnough(value, place, run, evaluated)) valid = false;
      if (unevaluatedItems !== undefined) checkRest(unevaluatedItems, 0, (index) => evaluated?.has(index) !== true);
      return valid;
    },
  ];

  function containsEnough(...[list, place, run, evaluated]: Parameters<Rule<readonly unknown[]>>): boolean {
    const before = run.failures.length;
    let count = 0;
    run.tentative++;
    for (const [index, item] of list.entries()) {
      if (!holds(contains, item, { around: place, member: index }, run, undefined)) continue;
      count++;
      evaluated?.add(index);
    }
    run.tentative--;
    if (count < least || count > most) {
      const upTo = most === Infinity ? "" : ` and at most ${most}`;
      return fail(run, { place, value: list, expected: () => `a list with at least ${least}${upTo} items that match` });
    }
    run.failures.length = before;
    return true;
  }
}

/** Creates rules from the keywords about the members of an object. Only own members count. */
export function objectRules(schema: SchemaObject, holds: Holds, patterns: Patterns): readonly Rule[] {
  const { required, propertyNames } = schema;
  const properties = isPlainObject(schema["properties"]) ? schema["properties"] : undefined;
  const rules: Rule[] = [];
  const add = (rule: Rule<Members>): void => {
    rules.push((value, ...rest) => !isPlainObject(value) || rule(value, ...rest));
  };
  const hasAll = (names: readonly string[], value: Members, place: ValuePosition | undefined, run: Run): boolean => {
    let valid = true;
    spend(run, names.length);
    for (const name of names) {
      if (Object.hasOwn(value, name)) continue;
      const expected = (): string => typeOf(properties, name);
      valid = fail(run, { place: { around: place, member: name }, value: undefined, expected, member: "missing" });
    }
    return valid;
  };

  const defaults = Object.entries(properties ?? {}).flatMap(([name, each]) => {
    const given = isPlainObject(each) ? each["default"] : undefined;
    return given === undefined ? [] : [{ name, given, cost: sizeOf(given) }];
  });
  if (defaults.length > 0) {
    add((value, _place, run) => {
      if (run.tentative > 0) return true;
      spend(run, defaults.length);
      for (const { name, given, cost } of defaults) {
        if (Object.hasOwn(value, name)) continue;
        spend(run, cost);
        setOwn(value, name, copyValue(given));
      }
      return true;
    });
  }
  rules.push(...limitRules(schema, "object"));
  if (Array.isArray(required)) add((value, place, run) => hasAll(required as readonly string[], value, place, run));
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
    for (const [name, wanted] of Object.entries((schema[keyword] as SchemaObject | undefined) ?? {})) {
      add((value, place, run, evaluated) => {
        if (!Object.hasOwn(value, name)) return true;
        return Array.isArray(wanted)
          ? hasAll(wanted as readonly string[], value, place, run)
          : holds(wanted, value, place, run, evaluated);
      });
    }
  }
  if (propertyNames !== undefined) {
    add((value, place, run) => {
      let valid = true;
      for (const name of Object.keys(value)) if (!holds(propertyNames, name, place, run, undefined)) valid = false;
      return valid || fail(run, { place, value, expected: () => "an object whose names are all valid" });
    });
  }
  const rule = memberRule(schema, properties, holds, patterns);
  if (rule) add(rule);
  return rules;
}

/** Checks each member against every schema that applies to it: by name, by pattern, or as an additional member. */
function memberRule(
  schema: SchemaObject,
  properties: SchemaObject | undefined,
  holds: Holds,
  known: Patterns,
): Rule<Members> | undefined {
  const { additionalProperties, unevaluatedProperties } = schema;
  const byPattern = Object.entries((schema["patternProperties"] as SchemaObject | undefined) ?? {});
  const patterns = byPattern.map(([source, each]) => ({ pattern: known.get(source), each }));
  const isEmpty = properties === undefined && patterns.length === 0;
  if (isEmpty && additionalProperties === undefined && unevaluatedProperties === undefined) return undefined;
  const names = Object.keys(properties ?? {});
  const expected = (): string =>
    names.length === 0 ? "no names are allowed here" : `known here: ${listed(names, String)}`;

  return (value, place, run, evaluated) => {
    let valid = true;
    const check = (name: string, each: unknown, isOther = false): void => {
      const at: ValuePosition = { around: place, member: name };
      const fits =
        isOther && each === false
          ? fail(run, { place: at, value: value[name], expected, member: "unknown" })
          : holds(each, value[name], at, run, undefined);
      if (!fits) valid = false;
    };
    const given = Object.keys(value);
    spend(run, given.length);
    for (const name of given) {
      let isKnown = properties !== undefined && Object.hasOwn(properties, name);
      if (isKnown) check(name, properties?.[name]);
      for (const { pattern, each } of patterns) {
        if (!matches(pattern, name, run)) continue;
        isKnown = true;
        // An unchecked pattern may or may not match the name, so neither schema is applied.
        if (pattern?.note === undefined) check(name, each);
      }
      if (!isKnown && additionalProperties !== undefined) {
        isKnown = true;
        check(name, additionalProperties, true);
      }
      if (isKnown) evaluated?.add(name);
    }
    if (unevaluatedProperties !== undefined) {
      for (const name of given) {
        if (evaluated?.has(name)) continue;
        evaluated?.add(name);
        check(name, unevaluatedProperties, true);
      }
    }
    return valid;
  };
}

/** Copies own data, so defaults can be written into the copy. */
export function copyValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyValue);
  const copy: Members = {};
  for (const [name, member] of Object.entries(value)) setOwn(copy, name, copyValue(member));
  return copy;
}

/** Defines the member instead of assigning it. Assigning to `__proto__` would set the prototype, and hide the member from the check. */
function setOwn(members: Members, name: string, value: unknown): void {
  if (name !== "__proto__") members[name] = value;
  else Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
}

function fillItems(value: unknown[], first: readonly unknown[]): void {
  for (const [index, each] of first.entries()) {
    const given = isPlainObject(each) ? each["default"] : undefined;
    if (given !== undefined && index === value.length) value.push(copyValue(given));
  }
}

function typeOf(properties: SchemaObject | undefined, name: string): string {
  const member = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const type = isPlainObject(member) ? member["type"] : undefined;
  return type === undefined ? "a value" : [type].flat().join(" or ");
}
