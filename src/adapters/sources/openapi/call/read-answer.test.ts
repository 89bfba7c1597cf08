import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { createRedactor } from "../../../../guard/redaction/redactor.ts";
import { readShortly } from "./read-answer.ts";

const answer = (body: string) => ({
  headers: { "content-type": "text/plain" },
  body: Readable.from([Buffer.from(body)]),
});

it("shows no half of a secret where little is left of the much that was looked through", async () => {
  const secret = Array.from({ length: 100 }, (_, index) => `part${index}`).join("-");
  const redactor = createRedactor();
  redactor.add(secret);
  const shown = await readShortly(answer(`${secret} `.repeat(4)), 100, redactor);
  expect(shown).toBe("[redacted] [redacted] [redacted]…");
});

it("shows what ends as a secret begins", async () => {
  const redactor = createRedactor();
  redactor.add("wrong-key-of-ours");
  expect(await readShortly(answer("The key is wrong"), 100, redactor)).toBe("The key is wrong");
});
