import { describe, expect, it } from "vitest";
import { normaliseTool } from "../../tool/normalise/normalise-tool.ts";
import type { Tool } from "../../tool/tool.ts";
import { profileRequest, profileTool, stemOf } from "./action-object.ts";

function tool(name: string, namespace = "crm", description = ""): Tool {
  return normaliseTool({ name, namespace, description }, { source: "mcp", namespace: "default", createdAt: 0 });
}

describe("profileRequest", () => {
  it.each([
    ["Delete the Xano row with id 4410", "delete"],
    ["please rename our Slack workspace", "rename"],
    ["Could you get rid of that old label?", "delete"],
    ["Take my name off the mailing list", "delete"],
    ["Bring the archived card back", "restore"],
    ["I want to book a table for two", "book"],
    ["Which builds failed last night?", "get"],
    ["Who moved my card?", "get"],
    ["Has anybody approved PR 512 yet?", "get"],
    ["We deployed it yesterday. Roll it back", "deploy"],
  ])("reads %j as %s", (request, action) => {
    expect(profileRequest(request).actions[0]).toBe(action);
  });

  it("does not take what the user did for what is asked", () => {
    expect(profileRequest("I deleted a page by accident. Restore it").actions).toEqual(["restore"]);
  });

  it("reads a word after an article as a noun", () => {
    const { actions, objects } = profileRequest("Show the last order");
    expect(actions).toEqual(["get"]);
    expect(objects).toContain("order");
  });

  it("tells names from objects", () => {
    const { names, objects } = profileRequest("How many vacation days do I have in BambooHR for Kari?");
    expect(names).toEqual(["bamboohr", "kari"]);
    expect(objects).toEqual(["mani", "vacation", "day"]);
  });

  it("finds no action where no verb is known", () => {
    expect(profileRequest("小米科技的受益所有人").actions).toEqual([]);
    expect(profileRequest("").actions).toEqual([]);
  });
});

describe("profileTool", () => {
  it("takes the verb of the name, not a noun beside it", () => {
    expect([...profileTool(tool("get_blog_post")).actions]).toEqual(["get"]);
    expect([...profileTool(tool("blog_post_create")).actions]).toEqual(["create"]);
  });

  it("takes the description's verb where the name has none", () => {
    expect([...profileTool(tool("mulligan", "mtg", "Shuffles your hand. Draws a new one.")).actions]).toEqual([]);
    expect([...profileTool(tool("weather", "w", "Get the weather of a city")).actions]).toEqual(["get"]);
  });

  it("leaves the product out of the verbs", () => {
    expect([...profileTool(tool("linear_search_issues", "linear")).actions]).toEqual(["find"]);
    expect([...profileTool(tool("play_store_reviews", "play")).actions]).not.toContain("play");
  });

  it("knows the product by its words and in one word, without owner and noise", () => {
    const { product } = profileTool(tool("x", "@owner/Google-Calendar-mcp-server"));
    expect([...product]).toEqual(["googl", "calendar", "googlecalendar"]);
  });

  it("reads a tool once", () => {
    const one = tool("list_boards");
    expect(profileTool(one)).toBe(profileTool(one));
  });
});

it.each([
  ["queries", "query"],
  ["deleting", "delete"],
  ["stopped", "stop"],
  ["boxes", "box"],
  ["invoices", "invoice"],
])("stemOf brings %s and %s together", (one, other) => {
  expect(stemOf(one)).toBe(stemOf(other));
});
