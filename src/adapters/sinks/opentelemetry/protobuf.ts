import type { AttributeValue } from "./attributes.ts";
import { SAMPLED, type Signal, type Span } from "./otlp.ts";

/**
 * Writes OTLP's messages, given in the shape of its JSON encoding, as protobuf. Field numbers are those of opentelemetry-proto, which a test
 * compares with the official descriptors.
 */

type Scalar = "string" | "hex" | "uint" | "bool" | "int64" | "fixed32" | "fixed64" | "double" | "doubles" | "fixed64s";
interface Field {
  readonly name: string;
  readonly number: number;
  readonly type: Scalar | (() => Message);
}
type Message = readonly Field[];

function message(fields: Readonly<Record<string, readonly [number, Field["type"]]>>): Message {
  return Object.entries(fields).map(([name, [number, type]]) => ({ name, number, type }));
}

const ANY_VALUE: Message = message({
  stringValue: [1, "string"],
  boolValue: [2, "bool"],
  intValue: [3, "int64"],
  doubleValue: [4, "double"],
  arrayValue: [5, () => ARRAY_VALUE],
});
const ARRAY_VALUE: Message = message({ values: [1, () => ANY_VALUE] });
const KEY_VALUE: Message = message({ key: [1, "string"], value: [2, () => ANY_VALUE] });
const RESOURCE: Message = message({ attributes: [1, () => KEY_VALUE] });
const SCOPE: Message = message({ name: [1, "string"], version: [2, "string"] });

const LOG_RECORD: Message = message({
  timeUnixNano: [1, "fixed64"],
  severityNumber: [2, "uint"],
  severityText: [3, "string"],
  body: [5, () => ANY_VALUE],
  attributes: [6, () => KEY_VALUE],
  droppedAttributesCount: [7, "uint"],
  flags: [8, "fixed32"],
  traceId: [9, "hex"],
  spanId: [10, "hex"],
  observedTimeUnixNano: [11, "fixed64"],
  eventName: [12, "string"],
});
const NUMBER_POINT: Message = message({
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  asDouble: [4, "double"],
  attributes: [7, () => KEY_VALUE],
});
const HISTOGRAM_POINT: Message = message({
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  count: [4, "fixed64"],
  sum: [5, "double"],
  bucketCounts: [6, "fixed64s"],
  explicitBounds: [7, "doubles"],
  attributes: [9, () => KEY_VALUE],
});
const METRIC: Message = message({
  name: [1, "string"],
  description: [2, "string"],
  unit: [3, "string"],
  gauge: [5, () => GAUGE],
  sum: [7, () => SUM],
  histogram: [9, () => HISTOGRAM],
});
const GAUGE: Message = message({ dataPoints: [1, () => NUMBER_POINT] });
const SUM: Message = message({
  dataPoints: [1, () => NUMBER_POINT],
  aggregationTemporality: [2, "uint"],
  isMonotonic: [3, "bool"],
});
const HISTOGRAM: Message = message({ dataPoints: [1, () => HISTOGRAM_POINT], aggregationTemporality: [2, "uint"] });
const ITEM = { logs: LOG_RECORD, metrics: METRIC };

/** Writes requests of one signal, all about the same resource. */
export interface RequestWriter {
  /** Writes some spans, log records or metrics: a part of a request. */
  encode(items: readonly object[]): Uint8Array;
  /** Joins parts into the body of an export request. */
  join(parts: readonly Uint8Array[]): Uint8Array;
}

/** Creates a writer. The messages around the items have the same numbers for every signal. */
export function createRequestWriter(
  signal: Signal,
  about: { readonly resource: object; readonly scope: object },
): RequestWriter {
  const writer = createWriter();
  const written = (write: () => void): Uint8Array => (write(), writer.take());
  const resource = written(() => writer.nested(1, RESOURCE, about.resource));
  const scope = written(() => writer.nested(1, SCOPE, about.scope));
  const head = (number: number, length: number): Uint8Array =>
    written(() => (writer.varint(length), writer.varint(number * 8 + 2)));
  return {
    encode: (items) =>
      written(() => {
        for (let at = items.length - 1; at >= 0; at--)
          if (signal === "traces") writer.span(2, items[at] as Span);
          else writer.nested(2, ITEM[signal], items[at] as object);
      }),
    join(parts) {
      const inScope = parts.reduce((sum, { length }) => sum + length, scope.length);
      const scopeHead = head(2, inScope);
      const inResource = resource.length + scopeHead.length + inScope;
      return Buffer.concat([head(1, inResource), resource, scopeHead, scope, ...parts]);
    },
  };
}

/** Writes from the end to the beginning, so that the length of a message is known when it is written. */
function createWriter() {
  let bytes = Buffer.allocUnsafe(16_384);
  let view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let start = bytes.length;

  function room(needed: number): void {
    if (start >= needed) return;
    const used = bytes.length - start;
    const grown = Buffer.allocUnsafe(Math.max(bytes.length * 2, used + needed));
    bytes.copy(grown, grown.length - used, start);
    bytes = grown;
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    start = grown.length - used;
  }

  function varint(value: number): void {
    if (value < 128) {
      room(1);
      bytes[--start] = value;
      return;
    }
    let length = 1;
    for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++;
    room(length);
    start -= length;
    let rest = value;
    for (let at = start; at < start + length - 1; at++) {
      bytes[at] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    bytes[start + length - 1] = rest;
  }

  function text(value: string): void {
    const { length } = value;
    room(length * 3);
    // Most texts are short and plain.
    const into = bytes;
    const from = start - length;
    for (let at = 0; at < length; at++) {
      const code = value.charCodeAt(at);
      if (code > 127) return wideText(value);
      into[from + at] = code;
    }
    start = from;
    varint(length);
  }

  function wideText(value: string): void {
    const length = Buffer.byteLength(value);
    start -= length;
    bytes.write(value, start, "utf8");
    varint(length);
  }

  function fixed64(value: string): void {
    room(8);
    start -= 8;
    view.setBigUint64(start, BigInt.asUintN(64, BigInt(value)), true);
  }

  /** Milliseconds as nanoseconds: whole microseconds in two halves, without a BigInt. */
  function time(ms: number): void {
    room(8);
    start -= 8;
    const micros = Math.round(Math.max(0, ms) * 1000);
    const low = (micros % HALF) * 1000;
    view.setUint32(start, low % HALF, true);
    view.setUint32(start + 4, Math.floor(micros / HALF) * 1000 + Math.floor(low / HALF), true);
  }

  function hex(value: string): void {
    const length = value.length >> 1;
    room(length);
    start -= length;
    const into = bytes;
    const from = start;
    for (let at = 0; at < length; at++)
      into[from + at] = (digit(value.charCodeAt(2 * at)) << 4) | digit(value.charCodeAt(2 * at + 1));
    varint(length);
  }

  function fixed32(value: number): void {
    room(4);
    start -= 4;
    view.setUint32(start, value, true);
  }

  function double(value: number): void {
    room(8);
    start -= 8;
    view.setFloat64(start, value, true);
  }

  /** Writes one value with its tag. */
  function scalar(number: number, type: Scalar, value: unknown): void {
    switch (type) {
      case "string":
        text(value as string);
        return varint(number * 8 + 2);
      case "hex":
        hex(value as string);
        return varint(number * 8 + 2);
      case "uint":
        varint(value as number);
        return varint(number * 8);
      case "bool":
        varint(value === true ? 1 : 0);
        return varint(number * 8);
      case "int64":
        if ((value as string).length < 16 && !(value as string).startsWith("-")) varint(Number(value));
        else signed(BigInt(value as string));
        return varint(number * 8);
      case "fixed32":
        fixed32(value as number);
        return varint(number * 8 + 5);
      case "fixed64":
        fixed64(value as string);
        return varint(number * 8 + 1);
      case "double":
        double(value as number);
        return varint(number * 8 + 1);
      case "fixed64s":
      case "doubles": {
        const values = value as readonly (string | number)[];
        for (const each of values.toReversed())
          if (type === "doubles") double(Number(each));
          else fixed64(String(each));
        varint(values.length * 8);
        return varint(number * 8 + 2);
      }
    }
  }

  function signed(value: bigint): void {
    if (value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) return varint(Number(value));
    const groups: number[] = [];
    let rest = BigInt.asUintN(64, value);
    for (; rest > 127n; rest >>= 7n) groups.push(Number(rest & 127n) + 128);
    groups.push(Number(rest));
    room(groups.length);
    start -= groups.length;
    groups.forEach((group, at) => (bytes[start + at] = group));
  }

  /** Spans are nearly all that is written, so they are written by hand. Fields may come in any order. */
  function span(number: number, given: Span): void {
    const end = bytes.length - start;
    const { parentSpanId, traceState, attributes, droppedAttributesCount, status } = given;
    fixed32(SAMPLED);
    varint(FLAGS);
    if (status !== undefined) {
      const inner = bytes.length - start;
      varint(status.code);
      varint(STATUS_CODE);
      if (status.message !== undefined) tagged(STATUS_MESSAGE, status.message);
      head(STATUS, inner);
    }
    if (droppedAttributesCount > 0) {
      varint(droppedAttributesCount);
      varint(DROPPED);
    }
    for (const key in attributes) {
      const value = attributes[key];
      if (value !== undefined) attribute(key, value);
    }
    time(given.endedAt);
    varint(ENDED);
    time(given.startedAt);
    varint(STARTED);
    varint(given.kind);
    varint(KIND);
    tagged(NAME, given.name);
    if (parentSpanId !== undefined) {
      hex(parentSpanId);
      varint(PARENT);
    }
    if (traceState !== undefined) tagged(TRACE_STATE, traceState);
    hex(given.spanId);
    varint(SPAN_ID);
    hex(given.traceId);
    varint(TRACE_ID);
    head(number * 8 + 2, end);
  }

  /** Ends a message: its length and tag, in front of what was written since. */
  function head(tag: number, end: number): void {
    varint(bytes.length - start - end);
    varint(tag);
  }

  function tagged(tag: number, value: string): void {
    text(value);
    varint(tag);
  }

  function attribute(key: string, value: NonNullable<AttributeValue>): void {
    const end = bytes.length - start;
    anyValue(value);
    head(VALUE, end);
    tagged(KEY, key);
    head(ATTRIBUTES, end);
  }

  function anyValue(value: NonNullable<AttributeValue>): void {
    switch (typeof value) {
      case "string":
        return tagged(STRING_VALUE, value);
      case "boolean":
        varint(value ? 1 : 0);
        return varint(BOOL_VALUE);
      case "number":
        if (!Number.isSafeInteger(value)) return scalar(4, "double", value);
        if (value < 0) signed(BigInt(value));
        else varint(value);
        return varint(INT_VALUE);
      default:
        return nested(5, ARRAY_VALUE, { values: value.map((stringValue) => ({ stringValue })) });
    }
  }

  function nested(number: number, type: Message, value: object): void {
    const end = bytes.length - start;
    for (let at = type.length - 1; at >= 0; at--) {
      const field = type[at] as Field;
      const given = (value as Readonly<Record<string, unknown>>)[field.name];
      if (given === undefined) continue;
      if (typeof field.type === "string") scalar(field.number, field.type, given);
      else if (!Array.isArray(given)) nested(field.number, field.type(), given as object);
      else for (let one = given.length - 1; one >= 0; one--) nested(field.number, field.type(), given[one] as object);
    }
    head(number * 8 + 2, end);
  }

  /** A copy of what was written. The next thing is written over it. */
  function take(): Uint8Array {
    const written = Buffer.from(bytes.subarray(start));
    start = bytes.length;
    return written;
  }

  return { varint, nested, span, take };
}

const HALF = 2 ** 32;

/** Tags of a span's fields, of its status's, of an attribute's and of a value's: the field's number and how it is written. */
const [TRACE_ID, SPAN_ID, TRACE_STATE, PARENT, NAME, KIND, STARTED, ENDED, ATTRIBUTES, DROPPED, STATUS, FLAGS] = [
  10, 18, 26, 34, 42, 48, 57, 65, 74, 80, 122, 133,
] as const;
const [STATUS_MESSAGE, STATUS_CODE] = [18, 24] as const;
const [KEY, VALUE] = [10, 18] as const;
const [STRING_VALUE, BOOL_VALUE, INT_VALUE] = [10, 16, 24] as const;

/** The value of a hexadecimal digit in lower case. */
function digit(code: number): number {
  return (code & 15) + 9 * (code >> 6);
}
