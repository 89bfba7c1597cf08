import { expect, it } from "vitest";
import { readForeign } from "./run-process.ts";

it.each([
  '{"__proto__":{"x":1},"kept":[{"__proto__":1}]}',
  '{"\\u005f_proto__":{"x":1},"kept":[{"_\\u005fproto__":1}]}',
])("leaves prototypes out of %s, however they are spelled", (text) => {
  const read = readForeign(text) as { readonly kept: readonly object[] };
  expect([Object.getOwnPropertyNames(read), read.kept.map(Object.getOwnPropertyNames)]).toEqual([["kept"], [[]]]);
});
