import { describe, expect, it } from "vitest";
import { dana, failing, listed, setUp } from "../../../test/guard/test-pins.ts";
import { memoryState } from "../../adapters/state/memory.ts";
import { STATE_LOST } from "../state-loss.ts";
import type { State } from "../../state/state.port.ts";
import type { Tool } from "../../tool/tool.ts";

/** The state, with what is written to it. */
function recording(inner: State): State & { readonly written: string[] } {
  const written: string[] = [];
  const set: State["set"] = (key, ...given) => {
    written.push(key);
    return inner.set(key, ...given);
  };
  return { ...inner, set, written };
}

describe("what is kept of a source", () => {
  it.each(["changes", "all"] as const)("is written once, however often it is listed, in the mode %s", async (mode) => {
    const state = recording(memoryState().documents);
    const { review } = setUp({ state, mode });
    for (const _time of [1, 2, 3]) await review(listed(), "Be kind.");
    expect(state.written).toEqual(["pin:files.read_file", "pin:files#instructions"]);
    for (const _time of [1, 2]) await review(listed({ title: "Other" }), "Be kind.");
    expect(state.written.slice(2)).toEqual(["pin:files.read_file"]);
  });

  it("is what the first of two processes saw, where both see something new at once", async () => {
    const state = memoryState().documents;
    const [one, other] = [setUp({ state }), setUp({ state })];
    const [first, second] = await Promise.all([one.review(listed()), other.review(listed({ title: "Other" }))]);
    expect([first, second]).toEqual([[listed()], [listed()]]);
    expect(await other.pins.refusal(listed())).toContain("it changed (title)");
    expect(await one.pins.list()).toMatchObject([{ state: "changed", diff: ["title", "- Read a file", "+ Other"] }]);
  });

  it("is listed by id, with since when it is so", async () => {
    const { pins, clock } = setUp();
    const tools = ["b", "a", "c"].map((name) => listed({ name }));
    await pins.review({ ensemble: "files", tools });
    await clock.advance(500);
    await pins.review({ ensemble: "files", tools: [listed({ name: "a", title: "Other" })], instructions: "Be kind." });
    expect((await pins.list()).map(({ diff: _diff, hash: _hash, ...pin }) => pin)).toEqual([
      { id: "files#instructions", ensemble: "files", state: "accepted", seenAt: 1500 },
      { id: "files.a", ensemble: "files", state: "changed", seenAt: 1500 },
      { id: "files.b", ensemble: "files", state: "accepted", seenAt: 1000 },
      { id: "files.c", ensemble: "files", state: "accepted", seenAt: 1000 },
    ]);
  });

  it("names who accepted it only while it is that", async () => {
    const { pins, review } = setUp();
    await review(listed());
    expect((await pins.list())[0]).not.toHaveProperty("acceptedBy");
    await review(listed({ title: "Other" }));
    await pins.accept("files.read_file", dana);
    expect((await pins.list())[0]?.acceptedBy).toBe("dana");
    await review(listed());
    expect((await pins.list())[0]).not.toHaveProperty("acceptedBy");
  });

  it("shows instructions that are no longer given", async () => {
    const { pins, review } = setUp();
    await review(listed(), "Be kind.");
    await review(listed(), "");
    expect((await pins.list())[0]).toMatchObject({ state: "changed", diff: ["instructions", "- Be kind.", "+ "] });
  });
});

describe("events", () => {
  it("tell each change of a tool, and each tool that nobody accepted", async () => {
    const { review, events } = setUp({ mode: "all" });
    await review(listed());
    await review(listed({ title: "Other" }));
    const rejected = {
      name: "files.read_file",
      code: "PERMISSION_DENIED",
      message:
        "files.read_file is not registered, because it was not accepted yet. Review it with: toolarsenal pins list --diff, then: toolarsenal pins accept files.read_file",
    };
    const waiting = expect.objectContaining({ ensemble: "files", waiting: 1 }) as object;
    expect(events).toEqual(
      [1, 2].flatMap(() => [
        ["tool-rejected", rejected],
        ["pins-waiting", waiting],
      ]),
    );
  });

  it("tell once, and in one line, how many wait to be accepted", async () => {
    const { review, events } = setUp({ mode: "all" });
    await review(listed(), "Be kind.");
    await review(listed(), "Be kind.");
    expect(events.filter(([name]) => name === "pins-waiting")).toEqual([
      [
        "pins-waiting",
        {
          ensemble: "files",
          waiting: 2,
          message:
            "files has 2 items to be accepted, not used until then. Review them with: toolarsenal pins list --diff. Then accept them with: toolarsenal pins accept ID, or --all",
        },
      ],
    ]);
  });

  it("tell nothing of instructions that a server does not have, nor is anything waited for", async () => {
    const { pins, review, events, clock } = setUp({ mode: "all" });
    await review(listed(), "");
    await pins.accept("files.read_file", dana);
    await review(listed(), "");
    expect(events.map(([name]) => name)).toEqual([
      "tool-rejected",
      "pins-waiting",
      "pin-accepted",
      "ensemble-accepted",
    ]);
    expect(clock.pending).toBe(0);
  });

  it("tell nothing of what is accepted", async () => {
    const { review, events } = setUp();
    await review(listed(), "Be kind.");
    expect(events).toEqual([]);
  });
});

it("looks for who accepts instructions, though no tool waits", async () => {
  const { pins, clock } = setUp({ mode: "all" });
  expect(await pins.review({ ensemble: "files", tools: [], instructions: "Be kind." })).toStrictEqual({ tools: [] });
  expect(clock.pending).toBe(1);
});

describe("where only the instructions cannot be read", () => {
  const BROKEN = { accepted: { content: { hash: 5 } } };

  it("the tools of that server are refused, and it is told", async () => {
    const { pins, review, events, state } = setUp();
    await state.set("pin:files#instructions", BROKEN);
    expect(await review(listed(), "Be kind.")).toEqual([listed()]);
    expect(await pins.refusal(listed())).toContain("The pin of files#instructions cannot be read");
    expect(await pins.instructions("files", "Be kind.")).toBeUndefined();
    const message = expect.stringContaining("The pin of files#instructions cannot be read");
    expect(events).toEqual([1, 2].map(() => ["pins-failed", { ensemble: "files", message }]));
  });

  it("it is tried again, and calls pass once it can be read", async () => {
    const { pins, review, state, clock, again } = setUp();
    await state.set("pin:files#instructions", BROKEN);
    await review(listed());
    await clock.advance(2_000);
    expect(again).toEqual(["files"]);
    await state.delete("pin:files#instructions");
    await review(listed());
    expect(pins.refusal(listed())).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});

describe("where the state failed for a moment", () => {
  it("a tool is registered as it was accepted, though it could not be compared", async () => {
    const state = failing(memoryState().documents);
    state.broken = false;
    const { review } = setUp({ state });
    await review(listed());
    const get: State["get"] = (...given) => {
      const answer = state.get(...given);
      state.broken = false;
      return answer;
    };
    state.broken = true;
    expect(await setUp({ state: { ...state, get } }).review(listed({ title: "Other" }))).toEqual([listed()]);
  });

  it("one failure is told for all of a server's tools", async () => {
    const { pins, events } = setUp({ state: failing(memoryState().documents) });
    await pins.review({ ensemble: "files", tools: [listed({ name: "a" }), listed({ name: "b" })] });
    expect(events).toHaveLength(1);
  });
});

describe("after the state was lost", () => {
  const lose = (state: State): Promise<boolean> => state.set(STATE_LOST, { at: 1, why: "was deleted" });

  it("nothing is accepted at first sight, however often it is listed, but each thing by an operator", async () => {
    const { pins, review, state } = setUp();
    await lose(state);
    for (const _time of [1, 2]) expect(await review(listed(), "Be kind.")).toEqual([]);
    expect(await pins.instructions("files", "Be kind.")).toBeUndefined();
    expect((await pins.list()).map((pin) => pin.state)).toEqual(["new", "new"]);
    await pins.accept("files.read_file", dana);
    expect(await review(listed(), "Be kind.")).toEqual([listed()]);
    expect(await pins.refusal(listed())).toBeUndefined();
  });

  it("what was accepted since then is compared as ever", async () => {
    const { pins, review, state } = setUp();
    await lose(state);
    await review(listed());
    await pins.accept("files.read_file", dana);
    await review(listed({ title: "Other" }));
    expect((await pins.list())[0]?.state).toBe("changed");
  });

  it.each(["files.read_file", "files#instructions"])("what blocked a tool before still does: %s", async (id) => {
    const { pins, review, state, again } = setUp();
    await review(listed(), "Be kind.");
    await review(
      id === "files.read_file" ? listed({ title: "Other" }) : listed(),
      id === "files.read_file" ? "Be kind." : "Be cruel.",
    );
    expect(await pins.refusal(listed())).toContain("differs from its accepted version");
    for (const { key } of await state.list("")) await state.delete(key);
    await lose(state);
    expect(await pins.refusal(listed())).toContain(`toolarsenal pins accept ${id}`);
    expect(again).toEqual(["files"]);
  });
});

describe("requests to a server for resources and prompts", () => {
  /** What the guard takes for a tool: the request to read a resource of the server. */
  const request = (ensemble = "files"): Tool => ({ ...listed({}, ensemble), id: `${ensemble}.resources/read` });

  it("are hidden in the mode all until something of the server is accepted, and stay so for others", async () => {
    const { pins, review } = setUp({ mode: "all" });
    expect(pins.hides(request())).toBe(true);
    await review(listed(), "");
    expect(pins.hides(request())).toBe(true);
    expect(pins.hides(listed())).toBe(false);
    await pins.accept("files.read_file", dana);
    await review(listed(), "");
    expect([pins.hides(request()), pins.hides(request("other"))]).toEqual([false, true]);
    await review(listed({ title: "Other" }), "");
    expect(pins.hides(request())).toBe(false);
  });

  it("wait for the server's instructions, even empty ones, if it has no tools", async () => {
    const { pins } = setUp({ mode: "all" });
    const offer = { ensemble: "files", tools: [], instructions: "" };
    // Empty instructions beside tools leave nothing to look at.
    await pins.review({ ...offer, tools: [listed()] });
    expect((await pins.list()).map(({ id }) => id)).toEqual(["files.read_file"]);
    await pins.review(offer);
    expect(pins.hides(request())).toBe(true);
    expect((await pins.list()).map(({ id, state }) => [id, state])).toContainEqual(["files#instructions", "new"]);
    await pins.accept("files#instructions", dana);
    await pins.review(offer);
    expect(pins.hides(request())).toBe(false);
  });

  it("are open in the mode changes, unless the state was lost or cannot be read", async () => {
    const { pins, review } = setUp();
    expect(pins.hides(request())).toBe(false);
    await review(listed(), "");
    expect(pins.hides(request())).toBe(false);

    const lost = setUp();
    await lost.state.set(STATE_LOST, { at: 1, why: "was deleted" });
    await lost.review(listed(), "");
    expect(lost.pins.hides(request())).toBe(true);

    const broken = setUp({ state: failing(memoryState().documents) });
    await broken.review(listed(), "");
    expect(broken.pins.hides(request())).toBe(true);
  });
});
