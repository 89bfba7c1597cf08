import { describe, expect, it } from "vitest";
import { dana, failing, listed, setUp } from "../../../test/guard/test-pins.ts";
import { memoryState } from "../../adapters/state/memory.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createPins } from "./create-pins.ts";
import { localOperator } from "../principal.ts";

describe("refusing for good", () => {
  it("keeps a change blocked without asking again, until the server changes it once more", async () => {
    const { pins, review } = setUp();
    await review(listed());
    await review(listed({ title: "Other" }));
    const [waiting] = await pins.list({ states: ["changed"] });
    expect(waiting).not.toHaveProperty("refusedBy");
    await pins.refuse("files.read_file", dana, { hash: waiting?.hash ?? "" });
    await review(listed({ title: "Other" }));
    expect(await pins.list({ id: "files.read_file" })).toMatchObject([{ state: "changed", refusedBy: "dana" }]);
    expect(await pins.refusal(listed())).toContain("title");
    await review(listed({ title: "Another" }));
    expect((await pins.list())[0]).not.toHaveProperty("refusedBy");
    await expect(pins.refuse("files.read_file", dana, { hash: waiting?.hash ?? "" })).rejects.toThrow("does not match");
    await pins.accept("files.read_file", dana);
    expect(await pins.list()).toMatchObject([{ state: "accepted", acceptedBy: "dana" }]);
  });

  it("needs the role approver", async () => {
    const { pins, review } = setUp();
    await review(listed());
    await review(listed({ title: "Other" }));
    const bot = localOperator({ id: "bot", roles: ["operator"] });
    await expect(pins.refuse("files.read_file", bot)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect((await pins.list())[0]).not.toHaveProperty("refusedBy");
  });
});

describe("accepting", () => {
  it("needs the role approver", async () => {
    const { pins, review } = setUp();
    await review(listed());
    await review(listed({ title: "Other" }));
    const bot = localOperator({ id: "bot", roles: ["operator"] });
    await expect(pins.accept("files.read_file", bot)).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message:
        '"bot" lacks the role "approver" and cannot accept files.read_file. Give the role "approver" to the person who accepts, or let an approver do it.',
      details: { field: "id", value: "files.read_file" },
    });
    expect(await pins.refusal(listed())).toContain("title");
  });

  it("says where nothing of that id waits", async () => {
    const { pins, review } = setUp();
    await review(listed());
    for (const id of ["files.read_file", "files.other"])
      await expect(pins.accept(id, dana)).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: `No item that waits to be accepted has the id "${id}". Take an id from: toolarsenal pins list`,
        details: { field: "ID", value: id },
      });
  });

  it("takes nothing that came after what was looked at", async () => {
    const { pins, review } = setUp();
    await review(listed());
    await review(listed({ title: "Harmless" }));
    const [looked] = await pins.list();
    await review(listed({ title: "Not so" }));
    const hash = looked?.hash.slice(0, 16) ?? "";
    const [now] = await pins.list();
    await expect(pins.accept("files.read_file", dana, { hash })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: `files.read_file does not match the hash "${hash}": its hash is now ${now?.hash.slice(0, 16)}. Look at it again with: toolarsenal pins list --diff`,
      details: { field: "hash", value: hash },
    });
    await review(listed({ title: "Harmless" }));
    await pins.accept("files.read_file", dana, { hash });
  });

  it.each([0, 8, 15])("takes no hash of %i digits: so few can stand for two definitions", async (digits) => {
    const { pins, review } = setUp({ mode: "all" });
    await review(listed());
    const [pin] = await pins.list();
    const hash = pin?.hash.slice(0, digits) ?? "";
    await expect(pins.accept("files.read_file", dana, { hash })).rejects.toThrow("does not match the hash");
  });

  it("is told with what it took the place of, where there was something", async () => {
    const { pins, review, events } = setUp({ mode: "all" });
    await review(listed());
    await pins.accept("files.read_file", dana);
    const [pin] = await pins.list();
    expect(events.at(-1)).toEqual(["pin-accepted", { id: "files.read_file", hash: pin?.hash, by: "dana" }]);
  });

  it("works where nobody has to list anything again", async () => {
    const { state, review } = setUp();
    await review(listed());
    await review(listed({ title: "Other" }));
    const clock = createManualClock(5000);
    const pins = createPins({ state, clock, emit: () => {}, mode: "changes" });
    await pins.review({ ensemble: "files", tools: [listed({ title: "Other" })] });
    await clock.advance(2_000);
    await pins.accept("files.read_file", dana);
    expect(await pins.refusal(listed({ title: "Other" }))).toBeUndefined();
    expect((await pins.list())[0]).toMatchObject({ state: "accepted", seenAt: 7000 });
    pins.close();
  });

  it("of a definition whose hints were vouched for keeps them so", async () => {
    const { pins, review } = setUp();
    await review(listed());
    await pins.accept("files.read_file", dana, { confirmAnnotations: true });
    await review(listed({ title: "Other" }));
    await review(listed());
    await pins.accept("files.read_file", dana);
    expect((await review(listed()))[0]?.annotations.confirmed).toBe(true);
  });

  it("of a definition that nobody vouched for vouches for nothing", async () => {
    const { pins, review } = setUp();
    await review(listed());
    await review(listed({ title: "Other" }));
    await review(listed());
    await pins.accept("files.read_file", dana);
    expect((await review(listed()))[0]?.annotations.confirmed).toBe(false);
  });

  it("vouches for annotations where told to, and for exactly that definition", async () => {
    const { pins, review } = setUp();
    await review(listed());
    await pins.accept("files.read_file", dana, { confirmAnnotations: true });
    const [tool] = await review(listed());
    expect(tool?.annotations).toEqual({ readOnly: true, confirmed: true });
    expect(tool?.contentHash).not.toBe(listed().contentHash);
    const other = listed({ title: "Other" });
    await review(other);
    await pins.accept("files.read_file", dana);
    expect((await review(other))[0]?.annotations.confirmed).toBe(false);
  });
});

describe("what another process accepts", () => {
  it("lets the next call pass where the definition is the one that is registered", async () => {
    const { pins, review, state, again } = setUp();
    await review(listed());
    await review(listed({ title: "Other" }));
    await review(listed());
    await setUp({ state }).pins.accept("files.read_file", dana);
    expect(await pins.refusal(listed())).toBeUndefined();
    expect(again).toEqual(["files"]);
  });

  it("has the ensemble listed again, and refuses a call made by the old definition", async () => {
    const { pins, review, state, again } = setUp();
    await review(listed());
    await review(listed({ title: "Other" }));
    await setUp({ state }).pins.accept("files.read_file", dana);
    expect(await pins.refusal(listed())).toBe(
      "files.read_file changed a moment ago. Read its definition again, then call it.",
    );
    expect(again).toEqual(["files"]);
  });

  it.each(["changes", "all"] as const)("is noticed within two seconds in the mode %s, without a call", async (mode) => {
    const { pins, review, state, again, clock } = setUp({ mode });
    await review(listed());
    await review(listed({ title: "Other" }));
    await clock.advance(2_000);
    expect(again.splice(0)).toEqual(["files"]);
    await clock.advance(60_000);
    expect(again).toEqual([]);
    await setUp({ state, mode }).pins.accept("files.read_file", dana);
    await clock.advance(2_000);
    expect(again).toEqual(["files"]);
    await review(listed({ title: "Other" }));
    expect(clock.pending).toBe(0);
    pins.close();
  });

  it("is not looked for after the close, nor while nothing waits", async () => {
    const { pins, review, clock } = setUp();
    await review(listed());
    expect(clock.pending).toBe(0);
    await review(listed({ title: "Other" }));
    expect(clock.pending).toBe(1);
    pins.close();
    expect(clock.pending).toBe(0);
  });
});

describe("where the state fails", () => {
  it("calls are refused, it is told, and all is well once it works again", async () => {
    const state = failing(memoryState().documents);
    const { pins, review, events, again, clock } = setUp({ state });
    expect(await review(listed(), "Be kind.")).toEqual([listed()]);
    expect(events).toEqual([
      ["pins-failed", { ensemble: "files", message: expect.stringContaining("the disk is gone") }],
    ]);
    expect(await pins.refusal(listed())).toContain("cannot be compared with its accepted definition");
    expect(await pins.instructions("files", "Be kind.")).toBeUndefined();
    state.broken = false;
    expect(await pins.refusal(listed())).toContain("Read its definition again");
    again.length = 0;
    await clock.advance(2_000);
    expect(again).toEqual(["files"]);
    await review(listed(), "Be kind.");
    expect(pins.refusal(listed())).toBeUndefined();
  });

  it("what could not be compared is listed again until it could, though nobody accepts anything", async () => {
    const state = failing(memoryState().documents);
    const { review, again, clock } = setUp({ state });
    state.broken = false;
    await review(listed());
    await review(listed({ title: "Other" }));
    await clock.advance(2_000);
    state.broken = true;
    await review(listed({ title: "Other" }));
    state.broken = false;
    again.length = 0;
    await clock.advance(4_000);
    expect(again).toEqual(["files", "files"]);
  });

  it("nothing is registered in the mode all", async () => {
    const { review } = setUp({ mode: "all", state: failing(memoryState().documents) });
    expect(await review(listed())).toEqual([]);
  });

  it("a pin that cannot be read refuses too", async () => {
    const { pins, review, state } = setUp();
    await state.set("pin:files.read_file", { accepted: { content: { hash: 5 } } });
    await review(listed());
    expect(await pins.refusal(listed())).toContain("The pin of files.read_file cannot be read");
  });
});
