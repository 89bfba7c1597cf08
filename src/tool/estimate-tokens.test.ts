import { describe, expect, it } from "vitest";
import { definitionTokens, estimateTokens } from "./estimate-tokens.ts";

// The expected counts are those of o200k_base.
const SAMPLES = [
  {
    text: "Search the web for pages about a topic and return the ten best results, each with a title and a short summary.",
    tokens: 24,
  },
  { text: '{"name":"get_weather","description":"Get the current weather for a city.","parameters":{"type":"object","properties":{"city":{"type":"string","description":"City name, e.g. Berlin"},"units":{"type":"string","enum":["metric","imperial"]}},"required":["city"]}}', tokens: 61 }, // prettier-ignore
  { text: "使用关键词搜索所有已登记的用户，并返回他们的姓名和邮箱。", tokens: 16 },
];

describe("estimateTokens", () => {
  it.each(SAMPLES)("is within 15 % on %j", ({ text, tokens }) => {
    expect(Math.abs(estimateTokens(text) / tokens - 1)).toBeLessThan(0.15);
  });

  it("is 0 for nothing and grows with the text", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens("one two three four")).toBe(4);
  });
});

describe("definitionTokens", () => {
  it("counts name, description and parameters, and nothing else [000-4.1-context-tokens]", () => {
    const tool = { name: "add", description: "Adds two numbers.", parameters: { type: "object" } };
    expect(definitionTokens({ ...tool, metadata: { long: "text ".repeat(100) } } as typeof tool)).toBe(
      estimateTokens('{"name":"add","description":"Adds two numbers.","parameters":{"type":"object"}}'),
    );
  });
});
