import { expect, it } from "vitest";
import { read } from "./project.ts";

it("docs/reference/exports.md lists every entry point of the package, in its order", () => {
  const { exports } = JSON.parse(read("package.json")) as { readonly exports: object };
  const listed = [...read("docs/reference/exports.md").matchAll(/^\| `(toolarsenal[^`]*)` \|/gm)].map(
    ([, name]) => name,
  );
  expect(listed).toEqual(Object.keys(exports).map((name) => `toolarsenal${name.slice(1)}`));
});

it("the package.json that Node parses for every loaded module has two fields, which agree with the package's own", () => {
  const { type, sideEffects } = JSON.parse(read("package.json")) as Readonly<Record<string, unknown>>;
  expect(JSON.parse(read("src/package.json"))).toEqual({ type, sideEffects });
});
