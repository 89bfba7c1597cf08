import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromPromptName, toPromptName } from "../resources/prompt-name.ts";
import { fromServedUri, toServedUri } from "../resources/resource-uri.ts";
import { divideId } from "../../../../tool/tool.ts";
import { fromToolName, toToolName } from "../../../meta-tools/shown-tool.ts";

describe("a tool's name", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/);
  const namespace = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,10}(?:\.[a-z0-9][a-z0-9_-]{0,5})?$/);
  const id = fc.oneof(
    fc.tuple(namespace, name).map(([space, own]) => `${space}.${own}`),
    fc.constantFrom("default.execute_tool", "default.find_relevant_tools", "x.execute_tool", "default.a"),
  );

  it("leads back to its id and to no other, and is never a meta-tool's", () => {
    fc.assert(
      fc.property(id, (given) => {
        const served = toToolName(given);
        expect(fromToolName(served)).toBe(given);
        expect(served).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
        expect(["execute_tool", "find_relevant_tools"]).not.toContain(served);
      }),
    );
  });

  it("spells the namespace out where it would be a meta-tool's", () => {
    expect(toToolName("default.execute_tool")).toBe("default-execute_tool");
    expect(toToolName("evil.execute_tool")).toBe("evil-execute_tool");
    expect(fromToolName("execute_tool")).toBeUndefined();
  });

  it("is an id itself where it has a dot", () => {
    expect(fromToolName("files.read")).toBe("files.read");
    expect(divideId("a.b.read")).toEqual({ namespace: "a.b", name: "read" });
    expect(divideId("read")).toEqual({ namespace: "", name: "read" });
  });
});

describe("a prompt's name", () => {
  it("is readable where it can be", () => {
    expect(toPromptName("everything", "simple_prompt")).toBe("everything-simple_prompt");
    expect(toPromptName("everything", "args-prompt")).toBe("everything-args--prompt");
    expect(toPromptName("a".repeat(40), "b".repeat(40))).toMatch(/^a{40}_b+-0[0-9a-f]{12}$/);
    expect(toPromptName("a".repeat(40), "b".repeat(40))).toHaveLength(64);
    expect(toPromptName("my server", "Größe?")).toMatch(/^my_server_grosse-0[0-9a-f]{12}$/);
  });

  it("is at most 64 characters, leads back where it spells the prompt out, and is no other prompt's", () => {
    const word = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
      fc.constantFrom("a", "a-", "-b", "b"),
    );
    fc.assert(
      fc.property(word, word, word, word, (upstream, prompt, otherUpstream, otherPrompt) => {
        const served = toPromptName(upstream, prompt);
        expect(served).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        const back = fromPromptName(served);
        if (back !== undefined) expect(back).toEqual({ upstream, prompt });
        else expect(served).toMatch(/-0[0-9a-f]{12}$/);
        if (upstream !== otherUpstream || prompt !== otherPrompt)
          expect(toPromptName(otherUpstream, otherPrompt)).not.toBe(served);
      }),
    );
  });

  it("keeps case, dashes, dots and lookalikes apart", () => {
    const pairs = [
      ["a", "b-c"],
      ["a-b", "c"],
      ["a", "b.c"],
      ["a.b", "c"],
      ["a", "Read"],
      ["a", "read"],
      ["a", "re\u0430d"],
      ["a__b", "c"],
      ["a", "b__c"],
      ["a", "x".repeat(200)],
      ["a", "x".repeat(201)],
      ["a-", "b"],
      ["a", "-b"],
    ] as const;
    expect(new Set(pairs.map(([upstream, prompt]) => toPromptName(upstream, prompt))).size).toBe(pairs.length);
  });
});

describe("a resource's URI", () => {
  it("leads back to any upstream and any URI", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (upstream, uri) => {
        expect(fromServedUri(toServedUri(upstream, uri))).toEqual({ upstream, uri });
      }),
    );
  });

  it("has the server's own after the prefix, untouched, so that a template expands to the expanded URI", () => {
    expect(toServedUri("my files", "file:///{+path}{?page,size*}")).toBe(
      "toolarsenal:my%20files/file:///{+path}{?page,size*}",
    );
    expect(toServedUri("o'neil/x", "a")).toBe("toolarsenal:o%27neil%2Fx/a");
  });

  it("is left alone by a parser that tidies URLs", () => {
    const served = toServedUri("files", "file:///a/../b/./c?x=1#y");
    expect(new URL(served).href).toBe(served);
  });

  it.each(["file:///a", "toolarsenal:", "toolarsenal:name", "toolarsenal:%/a", "toolarsenal:a b/c", "TOOLARSENAL:a/b"])(
    "is not ours: %s",
    (uri) => {
      expect(fromServedUri(uri)).toBeUndefined();
    },
  );
});
