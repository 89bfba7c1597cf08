import { isPlainObject } from "../../tool/json-schema.ts";

const MAX_SHOWN = 400;
const MAX_SHOWN_DEPTH = 20;

/** A value as JSON, cut where it is long; however large it is, no more is read than is shown. */
export function showJson(value: unknown): string {
  let text = "";

  function write(given: unknown, depth: number): void {
    if (text.length > MAX_SHOWN) return;
    if (typeof given !== "object" || given === null) text += JSON.stringify(given) ?? "null";
    else if (depth > MAX_SHOWN_DEPTH) text += "…".repeat(MAX_SHOWN);
    else if (Array.isArray(given)) writeAll("[", given, "]", (item) => write(item, depth + 1));
    else
      writeAll("{", Object.entries(given), "}", ([name, member]) => {
        text += `${JSON.stringify(name)}:`;
        write(member, depth + 1);
      });
  }

  function writeAll<Item>(start: string, items: readonly Item[], end: string, each: (item: Item) => void): void {
    text += start;
    for (const [index, item] of items.entries()) {
      if (text.length > MAX_SHOWN) return;
      if (index > 0) text += ",";
      each(item);
    }
    text += end;
  }

  write(value, 0);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).replace(/…+$/, "")}…`;
}

/** A constraint in words, for a model to keep to where its grammar cannot hold it; undefined where there is nothing to say. */
export function describeConstraint(keyword: string, value: unknown): string | undefined {
  const shown = showJson(value);
  switch (keyword) {
    case "pattern":
      return `Must match the regular expression \`${String(value)}\`.`;
    case "format":
      return `Format: ${String(value)}.`;
    case "const":
      return `Must be ${shown}.`;
    case "enum":
      return `One of: ${Array.isArray(value) ? value.map(showJson).join(", ") : shown}.`;
    case "default":
      return value === null ? undefined : `Default: ${shown}.`;
    case "examples":
      return Array.isArray(value) && value.length > 0 ? `Examples: ${value.map(showJson).join(", ")}.` : undefined;
    case "example":
      return `Example: ${shown}.`;
    case "minimum":
      return `At least ${shown}.`;
    case "maximum":
      return `At most ${shown}.`;
    case "exclusiveMinimum":
      return `More than ${shown}.`;
    case "exclusiveMaximum":
      return `Less than ${shown}.`;
    case "multipleOf":
      return `A multiple of ${shown}.`;
    case "minLength":
      return `At least ${counted(value, "character")}.`;
    case "maxLength":
      return `At most ${counted(value, "character")}.`;
    case "minItems":
      return `At least ${counted(value, "item")}.`;
    case "maxItems":
      return `At most ${counted(value, "item")}.`;
    case "minProperties":
      return `At least ${counted(value, "property", "properties")}.`;
    case "maxProperties":
      return `At most ${counted(value, "property", "properties")}.`;
    case "uniqueItems":
      return value === true ? "No item twice." : undefined;
    case "contains":
      return `At least one item fits ${shown}.`;
    case "minContains":
      return `At least ${counted(value, "such item")}.`;
    case "maxContains":
      return `At most ${counted(value, "such item")}.`;
    case "propertyNames":
      return `Property names fit ${shown}.`;
    case "not":
      return `Must not fit ${shown}.`;
    case "contentEncoding":
      return `Encoded as ${String(value)}.`;
    case "contentMediaType":
      return `Content of the type ${String(value)}.`;
    default:
      return describeMembers(keyword, value);
  }
}

function describeMembers(keyword: string, value: unknown): string | undefined {
  if (!isPlainObject(value)) return undefined;
  const members = Object.entries(value);
  switch (keyword) {
    case "patternProperties":
      return members.map(([name, schema]) => `Properties that match ${name} fit ${showJson(schema)}.`).join(" ");
    case "dependentRequired":
      return members.map(([name, others]) => `With ${name}, also give ${[others].flat().join(", ")}.`).join(" ");
    case "dependentSchemas":
      return members.map(([name, schema]) => `With ${name}, the whole fits ${showJson(schema)}.`).join(" ");
    case "additionalProperties":
      return `Other properties fit ${showJson(value)}.`;
    default:
      return undefined;
  }
}

/** A condition in words. */
export function describeCondition(condition: unknown, then: unknown, otherwise: unknown): string {
  const parts = [
    then === undefined ? "" : `If it fits ${showJson(condition)}, it also fits ${showJson(then)}.`,
    otherwise === undefined ? "" : `If it does not fit ${showJson(condition)}, it fits ${showJson(otherwise)}.`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** A description with sentences added to it. */
export function addNotes(description: unknown, notes: readonly string[]): string | undefined {
  const given = typeof description === "string" ? description : undefined;
  const added = notes.filter((note) => note !== "" && given?.includes(note) !== true).join(" ");
  if (added === "") return given;
  const start = given?.trimEnd() ?? "";
  if (start === "") return added;
  return /[.!?:;)\]]$/.test(start) ? `${start} ${added}` : `${start}. ${added}`;
}

function counted(count: unknown, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}
