import type { Attributes, AttributeValue } from "./attributes.ts";
import {
  type Field,
  type Message,
  RESOURCE,
  SCOPE,
  type RequestWriter,
  type Sender,
  type Signal,
  SIGNALS,
} from "./otlp.ts";

/** Creates a writer of requests in OTLP's JSON encoding: names in camelCase, ids in hexadecimal, 64-bit numbers as text. */
export function createJsonWriter(signal: Signal, sender: Sender): RequestWriter {
  const { item, resources, scopes, items: named } = SIGNALS[signal];
  const [resource, scope] = [toJson(RESOURCE, sender.resource), toJson(SCOPE, sender.scope)];
  const around = JSON.stringify({ [resources]: [{ resource, [scopes]: [{ scope, [named]: ["\0"] }] }] });
  const [head = "", tail = ""] = around.split(JSON.stringify("\0"));
  const comma = Buffer.from(",");
  return {
    encode: (items) => Buffer.from(items.map((each) => JSON.stringify(toJson(item, each))).join(",")),
    join(parts) {
      const some = parts.filter(({ length }) => length > 0);
      const separated = some.flatMap((part, at) => (at === 0 ? [part] : [comma, part]));
      return Buffer.concat([Buffer.from(head), ...separated, Buffer.from(tail)]);
    },
  };
}

function toJson(message: Message, value: object): object {
  const given = value as Readonly<Record<string, unknown>>;
  const known = message.filter(({ name }) => given[name] !== undefined);
  return Object.fromEntries(known.map((field) => [field.json, toMember(field, given[field.name])]));
}

function toMember({ type }: Field, value: unknown): unknown {
  if (typeof type !== "string")
    return Array.isArray(value) ? value.map((each) => toJson(type, each)) : toJson(type, value as object);
  switch (type) {
    case "time":
      // Nanoseconds since the epoch exceed the precision of a number; microseconds do not.
      return `${Math.round(Math.max(0, value as number) * 1000)}000`;
    case "count":
      return String(value);
    case "counts":
      return (value as readonly number[]).map(String);
    case "attributes":
      return Object.entries(value as Attributes).flatMap(([key, one]) =>
        one === undefined ? [] : [{ key, value: toAnyValue(one) }],
      );
    default:
      return value;
  }
}

function toAnyValue(value: NonNullable<AttributeValue>): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(toAnyValue) } };
}
