import { describe, expect, it } from "vitest";
import { weighIntents } from "../understand/intent.ts";
import { createTagMatcher } from "./signals.ts";

const match = (query: string, ...tags: readonly string[]): number => createTagMatcher(query, weighIntents(query))(tags);

describe("matching tags with a request", () => {
  it("is 1 where a tag speaks for the intent, whatever its inflection", () => {
    expect(match("fetch the numbers", "sql", "Queries")).toBe(1);
    expect(match("upload it", "file-operations")).toBe(1);
  });
  it("is 0 where the tags speak of other things", () => {
    expect(match("fetch the numbers", "email", "archive")).toBe(0);
  });
  it("has nothing to say without tags or without an intent", () => {
    expect(match("fetch the numbers")).toBe(0.5);
    expect(match("the weather in Paris", "weather")).toBe(0.5);
  });
  it("counts a weaker intent of the request by its share, and each half of a compound task fully", () => {
    expect(match("get the email and send a message", "search")).toBeCloseTo(1 / 3, 12);
    expect(match("refund it and send a note", "message")).toBe(1);
    expect(match("refund it and send a note", "customer")).toBe(1);
  });
  it("is 1 where the request names the tag itself, all of its words", () => {
    expect(match("look up customers in the databases", "database")).toBe(1);
    expect(match("a customer of our data", "data-warehouse")).toBe(0);
  });
});
