import { expect, it } from "vitest";
import { present } from "./present.ts";

it("leaves out what is undefined, and nothing else", () => {
  const shown: { readonly a: number; readonly b?: string } = present({ a: 0, b: undefined as string | undefined });
  expect(Object.keys(shown)).toEqual(["a"]);
  expect(present({ none: null, empty: "", off: false })).toEqual({ none: null, empty: "", off: false });
});
