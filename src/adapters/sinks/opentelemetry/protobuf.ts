import type { Attributes, AttributeValue } from "./attributes.ts";
import {
  type Field,
  type Message,
  type RequestWriter,
  RESOURCE,
  SCOPE,
  type Sender,
  type Signal,
  SIGNALS,
} from "./otlp.ts";

/** Creates a writer of protobuf requests. The messages around the items have the same field numbers for every signal. */
export function createProtobufWriter(signal: Signal, sender: Sender): RequestWriter {
  const { item } = SIGNALS[signal];
  const writer = createWriter();
  const written = (write: () => void): Uint8Array => (write(), writer.take());
  const resource = written(() => writer.nested(10, RESOURCE, sender.resource));
  const scope = written(() => writer.nested(10, SCOPE, sender.scope));
  const head = (tag: number, length: number): Uint8Array => written(() => (writer.varint(length), writer.varint(tag)));
  return {
    encode: (items) =>
      written(() => {
        for (let at = items.length - 1; at >= 0; at--) writer.nested(18, item, items[at] as object);
      }),
    join(parts) {
      const inScope = parts.reduce((sum, { length }) => sum + length, scope.length);
      const scopeHead = head(18, inScope);
      const inResource = resource.length + scopeHead.length + inScope;
      return Buffer.concat([head(10, inResource), resource, scopeHead, scope, ...parts]);
    },
  };
}

const HALF = 2 ** 32;
/** Tags in the messages KeyValue, AnyValue and ArrayValue. */
const [KEY, VALUE, STRING, BOOL, INT, DOUBLE, ARRAY, VALUES] = [10, 18, 10, 16, 24, 33, 42, 10] as const;

/** Creates a buffer that is written from its end to its start, so the length of a message is known when it is written. */
function createWriter() {
  let bytes = Buffer.allocUnsafe(16_384);
  let view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let start = bytes.length;

  function reserve(needed: number): void {
    if (start < needed) {
      const used = bytes.length - start;
      const grown = Buffer.allocUnsafe(Math.max(bytes.length * 2, used + needed));
      bytes.copy(grown, grown.length - used, start);
      bytes = grown;
      view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      start = grown.length - used;
    }
    start -= needed;
  }

  function varint(value: number): void {
    if (value < 128) {
      reserve(1);
      bytes[start] = value;
      return;
    }
    let length = 1;
    for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++;
    reserve(length);
    let rest = value;
    for (let at = start; at < start + length - 1; at++) {
      bytes[at] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    bytes[start + length - 1] = rest;
  }

  /** A negative number always takes ten bytes. */
  function negative(value: number): void {
    reserve(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (let at = start; at < start + 10; at++, rest >>= 7n)
      bytes[at] = Number(rest & 127n) + (at < start + 9 ? 128 : 0);
  }

  function text(value: string): void {
    const { length } = value;
    reserve(length);
    // Most texts are short and have only ASCII characters.
    const [into, from] = [bytes, start];
    for (let at = 0; at < length; at++) {
      const code = value.charCodeAt(at);
      if (code > 127) return wideText(value);
      into[from + at] = code;
    }
    varint(length);
  }

  function wideText(value: string): void {
    const length = Buffer.byteLength(value);
    start += value.length;
    reserve(length);
    bytes.write(value, start, "utf8");
    varint(length);
  }

  function hex(value: string): void {
    const length = value.length >> 1;
    reserve(length);
    const [into, from] = [bytes, start];
    for (let at = 0; at < length; at++)
      into[from + at] = (digit(value.charCodeAt(2 * at)) << 4) | digit(value.charCodeAt(2 * at + 1));
    varint(length);
  }

  function fixed64(low: number, high: number): void {
    reserve(8);
    view.setUint32(start, low, true);
    view.setUint32(start + 4, high, true);
  }

  function count(value: number): void {
    fixed64(value % HALF, Math.floor(value / HALF));
  }

  /** Writes milliseconds as nanoseconds: whole microseconds in two halves, without a BigInt. */
  function time(ms: number): void {
    const micros = Math.round(Math.max(0, ms) * 1000);
    const low = (micros % HALF) * 1000;
    fixed64(low % HALF, Math.floor(micros / HALF) * 1000 + Math.floor(low / HALF));
  }

  function double(value: number): void {
    reserve(8);
    view.setFloat64(start, value, true);
  }

  /** Ends a message by writing its length and tag before its content. */
  function head(tag: number, end: number): void {
    varint(bytes.length - start - end);
    varint(tag);
  }

  function attributes(tag: number, given: Attributes): void {
    for (const key in given) {
      const value = given[key];
      if (value === undefined) continue;
      const end = bytes.length - start;
      anyValue(value);
      head(VALUE, end);
      text(key);
      varint(KEY);
      head(tag, end);
    }
  }

  function anyValue(value: NonNullable<AttributeValue>): void {
    switch (typeof value) {
      case "string":
        text(value);
        return varint(STRING);
      case "boolean":
        varint(value ? 1 : 0);
        return varint(BOOL);
      case "number":
        if (!Number.isSafeInteger(value)) {
          double(value);
          return varint(DOUBLE);
        }
        (value < 0 ? negative : varint)(value);
        return varint(INT);
      default: {
        const end = bytes.length - start;
        for (const each of value.toReversed()) {
          const endOfOne = bytes.length - start;
          anyValue(each);
          head(VALUES, endOfOne);
        }
        head(ARRAY, end);
      }
    }
  }

  /** Writes a value of the field's type, without its tag. */
  function plain(type: Exclude<Field["type"], Message | "attributes">, value: unknown): void {
    switch (type) {
      case "string":
        return text(value as string);
      case "hex":
        return hex(value as string);
      case "uint":
      case "bool":
        return varint(Number(value));
      case "fixed32":
        reserve(4);
        return view.setUint32(start, value as number, true);
      case "time":
        return time(value as number);
      case "count":
        return count(value as number);
      case "double":
        return double(value as number);
      case "counts":
      case "doubles": {
        const values = value as readonly number[];
        for (const each of values.toReversed()) (type === "doubles" ? double : count)(each);
        return varint(values.length * 8);
      }
    }
  }

  function nested(tag: number, message: Message, value: object): void {
    const end = bytes.length - start;
    for (let at = message.length - 1; at >= 0; at--) {
      const field = message[at] as Field;
      const given = (value as Readonly<Record<string, unknown>>)[field.name];
      if (given === undefined) continue;
      if (field.type === "attributes") attributes(field.tag, given as Attributes);
      else if (typeof field.type === "string") {
        plain(field.type, given);
        varint(field.tag);
      } else if (!Array.isArray(given)) nested(field.tag, field.type, given as object);
      else for (let one = given.length - 1; one >= 0; one--) nested(field.tag, field.type, given[one] as object);
    }
    head(tag, end);
  }

  /** Returns a copy of the output, because the next output overwrites it. */
  function take(): Uint8Array {
    const written = Buffer.from(bytes.subarray(start));
    start = bytes.length;
    return written;
  }

  return { varint, nested, take };
}

function digit(code: number): number {
  return (code & 15) + 9 * (code >> 6);
}
