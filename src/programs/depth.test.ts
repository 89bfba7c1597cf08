import { afterAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../arsenal.ts";

const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, programs: { depth: 3 } });
afterAll(() => arsenal.close());

arsenal.register(
  {
    name: "again",
    namespace: "nest",
    description: "Runs a program that calls this tool again.",
    parameters: { type: "object", properties: { levels: { type: "integer" } }, required: ["levels"] },
  },
  async ({ levels }) => {
    if (levels === 0) return "bottom";
    const { value, error } = await arsenal.runCode({ code: `await nest.again({ levels: ${levels - 1} })` });
    if (error !== undefined) throw new Error(error.message);
    return value;
  },
);

const nest = (levels: number) => arsenal.runCode({ code: `await nest.again({ levels: ${levels} })` });

describe("programs that call tools which run programs", () => {
  it("reach the configured depth", async () => {
    expect(await nest(2)).toMatchObject({ status: "success", value: "bottom" });
  });

  it("are refused one level deeper, with the limit and its setting", async () => {
    const { status, error } = await nest(3);
    expect(status).toBe("failure");
    expect(error?.message).toContain(
      "The program was not started: 3 programs and workflows that call each other are running already, and programs.depth allows no more.",
    );
  });

  it("are counted by who calls them, whichever thread ran which depth before", async () => {
    // Threads are started by programs of every depth, and reused by others.
    const rounds = await Promise.all([2, 0, 1, 3, 2, 0, 3, 1].map((levels) => nest(levels)));
    expect(rounds.map(({ status }) => status)).toEqual(
      [2, 0, 1, 3, 2, 0, 3, 1].map((levels) => (levels > 2 ? "failure" : "success")),
    );
  });
});
