import { expect, it } from "vitest";
import { clientLines } from "./client-entries.ts";

it("has clients call the public address where there is one, and not the one that is listened on", () => {
  const endpoint = { url: "http://0.0.0.0:8080", needsToken: true };
  const pasted = (publicUrl?: string): string =>
    clientLines({ ...endpoint, publicUrl }, { config: undefined })
      .map(({ json }) => json)
      .join("\n");
  expect(pasted()).toContain('"url":"http://0.0.0.0:8080/mcp"');
  expect(pasted("https://tools.example.com/")).toContain('"url":"https://tools.example.com/mcp"');
  expect(pasted("https://tools.example.com/")).not.toContain("0.0.0.0");
});
