import { describe, expect, it } from "vitest";
import { dependence } from "./dependence.ts";

describe("dependence", () => {
  it.each([
    "do it again",
    "yes, the second one",
    "and how many do I hold now in total?",
    "cancel it",
    "ele já respondeu?",
    "open the payments one",
  ])("is high for %j", (request) => {
    expect(dependence(request)).toBeGreaterThan(0.5);
  });

  it.each([
    "Give me page 2 of the Ordinals collections that Ordiscan has indexed.",
    "Create a channel #release-notes in Discord server 88123 with the topic What shipped this week",
    "Our onboarding guide lives in Feishu and the bash install commands look ugly as plain text. Put them in nicely.",
  ])("is low for %j", (request) => {
    expect(dependence(request)).toBeLessThan(0.2);
  });

  it("rises where a request points back or opens as an answer does", () => {
    expect(dependence("close this ticket number 5")).toBeGreaterThan(dependence("close the ticket number 5"));
    expect(dependence("and close ticket number 5")).toBeGreaterThan(dependence("please close ticket number 5"));
  });

  it("counts words in scripts without spaces", () => {
    expect(dependence("请帮我查询北京到上海明天上午的高铁车票价格和余票数量以及出发时间")).toBeLessThan(
      dependence("取消它"),
    );
  });
});
