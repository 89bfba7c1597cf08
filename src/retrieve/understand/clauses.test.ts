import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitClauses, stepsOf } from "./clauses.ts";

describe("splitClauses", () => {
  it.each([
    ["Find the invoice. Send it to Ann.", ["Find the invoice.", "Send it to Ann."]],
    ["Find the invoice and send it to Ann", ["Find the invoice", "send it to Ann"]],
    ["Find the invoice, then send it to Ann", ["Find the invoice", "send it to Ann"]],
    ["Find the invoice and after that send it to Ann", ["Find the invoice", "send it to Ann"]],
    ["Find the invoice; send it to Ann", ["Find the invoice", "send it to Ann"]],
    [
      "What's red in Datadog, and which dashboards do we have?",
      ["What's red in Datadog", "which dashboards do we have?"],
    ],
    ["- list the open issues\n- close the stale ones", ["list the open issues", "close the stale ones"]],
    ["1. list the open issues\n2) close the stale ones", ["list the open issues", "close the stale ones"]],
  ])("parts %j", (request, clauses) => {
    expect(splitClauses(request)).toEqual(clauses);
  });

  it.each([
    "Compare the salt and pepper prices",
    "Add version 1.2.3 of acme.web to the list",
    "Which calls, meetings and mails did Rafael log?",
    "List files",
  ])("leaves %j whole", (request) => {
    expect(splitClauses(request)).toEqual([request]);
  });

  it("leaves a part of two words with the one before it", () => {
    expect(splitClauses("Close issue 14 of the tracker. Thanks!")).toEqual(["Close issue 14 of the tracker. Thanks!"]);
  });

  it("loses no word of a request", () => {
    const words = fc.array(fc.constantFrom("find", "invoice", "mail", "Ann", "which", "blue", "I"), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 6 }), (sentences) => {
        const request = sentences.map((sentence) => `${sentence.join(" ")}.`).join(" ");
        expect(splitClauses(request).join(" ")).toBe(request);
      }),
    );
  });
});

describe("the steps of a request", () => {
  it("exist for two wishes, not for one wish and its story", () => {
    expect(stepsOf("Find the retention report and kick off a fresh run.")).toBeDefined();
    expect(stepsOf("The worker queue feels backed up. How deep is it?")).toBeUndefined();
    expect(stepsOf("My doctor put me on lisinopril. What should I avoid?")).toBeUndefined();
  });
});

describe("stepsOf", () => {
  it("puts wishes before what sets the scene, and gives each an eighth", () => {
    const steps = stepsOf("We shipped 4.2 an hour ago. Which errors are new? Then open a ticket for each.");
    expect(steps?.clauses).toEqual([
      "Which errors are new?",
      "Then open a ticket for each.",
      "We shipped 4.2 an hour ago.",
    ]);
    expect(steps?.wishes).toBe(2);
    expect(steps?.share).toBeCloseTo(0.375, 6);
  });

  it("is undefined where a request asks for one thing", () => {
    expect(stepsOf("The queue feels slow. How deep is it?")).toBeUndefined();
  });

  it("reads twelve clauses and gives them half at most", () => {
    const steps = stepsOf(Array.from({ length: 20 }, (_, index) => `Open the file number ${index}.`).join(" "));
    expect(steps?.clauses.length).toBe(12);
    expect(steps?.wishes).toBe(12);
    expect(steps?.share).toBe(0.5);
  });
});
