import { describe, expect, it } from "vitest";
import { columnsOf, stepStates } from "../../dashboard/src/parts/step-state.ts";
import type { WorkflowRunView } from "../../src/client/index.ts";

const STEPS = [
  { id: "find", needs: [], tool: "shop.find" },
  { id: "reserve", needs: ["find"], forEach: "steps.find.result", tool: "shop.reserve" },
  { id: "agree", needs: ["find"], approval: "Go on?" },
  { id: "pay", needs: ["reserve", "agree"], tool: "shop.pay" },
];

const call = (step: string, status: "success" | "failure" = "success", undo = false) => ({
  step,
  status,
  undo,
  durationMs: 1,
});

function statesOf(status: WorkflowRunView["status"], calls: WorkflowRunView["calls"], waits: readonly string[] = []) {
  const run = { id: "r", status, owner: "ada", startedAt: 0, traceId: "t", calls };
  const waiting = waits.map((step) => ({ step, confirmationId: "c" }));
  return [...stepStates(STEPS, { ...run, waits: waiting }).values()];
}

describe("the graph of a workflow", () => {
  it.each<[string, ReturnType<typeof statesOf>, readonly string[]]>([
    ["that starts", statesOf("running", []), ["running", "not started", "not started", "not started"]],
    [
      "whose items are under way",
      statesOf("running", [call("find"), call("reserve")]),
      ["done", "running", "running", "not started"],
    ],
    [
      "that waits",
      statesOf("waiting", [call("find"), call("reserve")], ["agree"]),
      ["done", "done", "waiting", "not started"],
    ],
    [
      "that skipped a step",
      statesOf("done", [call("find"), call("reserve"), call("pay")]),
      ["done", "done", "skipped", "done"],
    ],
    [
      "that failed and undid a step",
      statesOf("failed", [call("find"), call("reserve"), call("pay", "failure"), call("reserve", "success", true)]),
      ["done", "undone", "skipped", "failed"],
    ],
  ])("shows the states of a run %s", (_, states, expected) => {
    expect(states).toEqual(expected);
  });

  it("has each step in a column after those that it needs", () => {
    expect([...columnsOf(STEPS).values()]).toEqual([0, 1, 1, 2]);
  });
});
