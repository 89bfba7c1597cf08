import { describe, expect, it } from "vitest";
import { messageText } from "./query.ts";

describe("a message's text", () => {
  it("is its content where that is text", () => {
    expect(messageText({ role: "user", content: "refund order 7" })).toBe("refund order 7");
  });

  it("is the text of its parts, whatever else they hold", () => {
    const content = [
      { type: "text", text: "look" },
      { type: "image_url", image_url: {} },
      { type: "text", text: "here" },
    ];
    expect(messageText({ role: "user", content })).toBe("look\nhere");
  });

  it("is empty where a model only called a tool", () => {
    expect(messageText({ role: "assistant", content: null })).toBe("");
  });
});
