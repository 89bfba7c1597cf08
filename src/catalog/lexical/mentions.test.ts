import { describe, expect, it } from "vitest";
import { createMentions, type Mentions } from "./mentions.ts";

function add(mentions: Mentions, namespace: string, name: string, description = ""): void {
  mentions.upsert(`${namespace}.${name}`, namespace, { name, description, namespace });
}

describe("createMentions", () => {
  it("finds a tool by its whole name, however it is spelled", () => {
    const mentions = createMentions();
    add(mentions, "files", "read_text_file");
    for (const text of ["use read_text_file on it", "call readTextFile", "Read text file notes.md"]) {
      expect([...mentions.find(text).tools]).toEqual(["files.read_text_file"]);
    }
    expect(mentions.find("read the text file").tools.size).toBe(0);
  });

  it("takes a name of one word for a word like any other", () => {
    const mentions = createMentions();
    add(mentions, "web", "search");
    expect(mentions.find("search for hotels").tools.size).toBe(0);
  });

  it("finds a product by a word that only its namespace has", () => {
    const mentions = createMentions();
    add(mentions, "datadog", "list_monitors", "Lists Datadog monitors.");
    add(mentions, "sentry", "list_issues", "Lists issues.");
    expect([...mentions.find("what is red in Datadog?").namespaces]).toEqual(["datadog"]);
    expect(mentions.find("what is red?").namespaces.size).toBe(0);
  });

  it("knows a product however many of its own tools repeat its name", () => {
    const mentions = createMentions();
    for (let index = 0; index < 20; index++) add(mentions, "datadog", `tool_${index}`, "Asks Datadog.");
    expect([...mentions.find("what is red in Datadog?").namespaces]).toEqual(["datadog"]);
  });

  it("does not take a word for a product that three namespaces have in their names", () => {
    const mentions = createMentions();
    for (const namespace of ["weather one", "weather two", "weather three"]) add(mentions, namespace, "forecast");
    expect(mentions.find("weather in Rome").namespaces.size).toBe(0);
  });

  it("does not take a word for a product that many other tools use", () => {
    const mentions = createMentions();
    add(mentions, "memory", "store_fact");
    for (let index = 0; index < 10; index++) add(mentions, `other${index}`, "run_job", "Runs a job in memory.");
    expect(mentions.find("how much memory").namespaces.size).toBe(1);
    add(mentions, "other10", "run_job", "Runs a job in memory.");
    expect(mentions.find("how much memory").namespaces.size).toBe(0);
  });

  it("forgets a tool that was removed or replaced", () => {
    const mentions = createMentions();
    add(mentions, "datadog", "list_monitors");
    mentions.upsert("datadog.list_monitors", "datadog", { name: "get_monitors", description: "", namespace: "dog" });
    expect(mentions.find("list monitors of datadog")).toEqual({ tools: new Set(), namespaces: new Set() });
    mentions.remove("datadog.list_monitors");
    mentions.remove("datadog.list_monitors");
    expect(mentions.find("get monitors of dog")).toEqual({ tools: new Set(), namespaces: new Set() });
  });
});
