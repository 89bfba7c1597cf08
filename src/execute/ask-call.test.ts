import { afterEach, expect, it, vi } from "vitest";
import { internalsOf, ToolArsenal } from "../arsenal.ts";
import { createPrincipal } from "../guard/principal.ts";

const opened: ToolArsenal[] = [];
afterEach(async () => {
  for (const arsenal of opened.splice(0)) await arsenal.close();
});

const caller = createPrincipal({ id: "agent", capabilities: ["read_data"] });
const dana = createPrincipal({ id: "dana", roles: ["approver"] });

function open() {
  const handler = vi.fn(() => "ran");
  const arsenal = new ToolArsenal();
  opened.push(arsenal);
  const parameters = { type: "object", properties: { id: { type: "string" }, note: { default: "none" } } } as const;
  const described = { namespace: "notes", description: "Does something with a note.", parameters };
  arsenal.register({ ...described, name: "read_note" }, handler);
  arsenal.register({ ...described, name: "delete_note" }, handler);
  arsenal.register({ ...described, name: "pay_note", capabilities: ["financial"] }, handler);
  const call = (name: string) => ({ toolName: `notes.${name}`, arguments: { id: "7" }, principal: caller });
  return { arsenal, handler, call, ask: internalsOf(arsenal).ask };
}

it("asks about a call that may run, and runs nothing", async () => {
  const { ask, call, handler } = open();
  expect(await ask(call("read_note"))).toBeUndefined();
  expect(handler).not.toHaveBeenCalled();
});

it("answers with the refusal of a call that the caller may not make, and records it", async () => {
  const { arsenal, ask, call } = open();
  const finished: string[] = [];
  arsenal.subscribe(({ name }) => finished.push(name), { names: ["call-finished"] });
  expect(await ask(call("pay_note"))).toMatchObject({
    status: "permission_denied",
    toolId: "notes.pay_note",
    error: { code: "PERMISSION_DENIED" },
  });
  await expect.poll(() => finished).toEqual(["call-finished"]);
});

it("requests the approval that the call itself needs, and uses none up", async () => {
  const { arsenal, ask, call, handler } = open();
  const waiting = await ask(call("delete_note"));
  expect(waiting).toMatchObject({ status: "pending_confirmation" });
  // The call has defaults that the caller left out, and it is still the same call.
  expect((await arsenal.execute(call("delete_note"))).confirmationId).toBe(waiting?.confirmationId);
  await arsenal.approvals.approve(waiting?.confirmationId ?? "", dana);
  expect(await ask(call("delete_note"))).toBeUndefined();
  expect(await ask(call("delete_note"))).toBeUndefined();
  expect(handler).not.toHaveBeenCalled();
  expect(await arsenal.execute(call("delete_note"))).toMatchObject({ status: "success", result: "ran" });
  expect(await ask(call("delete_note"))).toMatchObject({ status: "pending_confirmation" });
});

it("answers with the problem of a call that cannot be made at all", async () => {
  const { ask, call } = open();
  expect(await ask(call("write_note"))).toMatchObject({ status: "failure", error: { code: "TOOL_NOT_FOUND" } });
});
