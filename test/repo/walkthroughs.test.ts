import { expect, it } from "vitest";
import { WALKTHROUGHS, walkthroughPage } from "../../scripts/walkthroughs.ts";
import { files, read } from "./project.ts";

it.each(WALKTHROUGHS)("docs/guides/walkthroughs/%s.md is what its program prints [000-13-notebooks]", (name) => {
  expect(read(`docs/guides/walkthroughs/${name}.md`), "Run npm run walkthroughs").toBe(walkthroughPage(name));
});

it("has a page for every walkthrough in examples [000-13-notebooks]", () => {
  expect(files("examples/*/walkthrough.ts")).toEqual(
    WALKTHROUGHS.map((name) => `examples/${name}/walkthrough.ts`).toSorted(),
  );
});
