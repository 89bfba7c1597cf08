import { afterEach, describe, expect, it } from "vitest";
import { memoryState } from "../../adapters/state/index.ts";
import { internalsOf, ToolArsenal } from "../../arsenal.ts";
import { createPrincipal } from "../../guard/principal.ts";
import type { RunsMessage } from "../../runs/run-watch.ts";
import type { SharedState } from "../../state/shared-state.ts";

const BOSS = createPrincipal({ id: "boss", roles: ["approver"] });
const BOT = createPrincipal({ id: "bot", scopes: ["*"] });
const CODE = "await bank.read({}); await bank.pay({})";

const opened: ToolArsenal[] = [];
let ran: string[] = [];
afterEach(async () => {
  for (const arsenal of opened.splice(0).toReversed()) await arsenal.close();
  ran = [];
});

/** A process on the state. Its calls of `read` wait for `hold`. */
function processOn(state: SharedState, hold?: Promise<void>): ToolArsenal {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, telemetry: { enabled: false }, state });
  opened.push(arsenal);
  const parameters = { type: "object" } as const;
  const annotations = { readOnly: true, confirmed: true };
  arsenal.register(
    { name: "read", namespace: "bank", description: "Reads.", parameters, annotations },
    async (_, { signal }) => {
      ran.push("read");
      await Promise.race([hold, new Promise((end) => signal.addEventListener("abort", end))]);
    },
  );
  const requiresConfirmation = true;
  arsenal.register({ name: "pay", namespace: "bank", description: "Pays.", parameters, requiresConfirmation }, () => {
    ran.push("pay");
    return "paid";
  });
  return arsenal;
}

const shared = (): SharedState => ({ ...memoryState(), name: "shared" });

/** A state whose processes die before they can report the end of a turn. */
function withoutReports(state: SharedState): SharedState {
  const { publish } = state.changes;
  const isReport = (data: unknown): boolean => (data as RunsMessage).what === "turned";
  return {
    ...state,
    changes: {
      ...state.changes,
      publish: async (topic, data) => (isReport(data) ? undefined : publish(topic, data)),
    },
  };
}

const statusOf = async (arsenal: ToolArsenal, id: string) =>
  (await (await internalsOf(arsenal).runs()).get(id))?.status;

describe("a gateway that has run no program itself", () => {
  const settled = Promise.resolve();

  it.each(["before", "after"])("goes on with one whose approval it gets, if it started %s it", async (when) => {
    const state = shared();
    const first = processOn(state, settled);
    const gateway = processOn(state, settled);
    if (when === "before") await gateway.serve({ port: 0 });
    const { runId, confirmationId = "" } = await first.runCode({ code: CODE, principal: BOT });
    if (when === "after") await gateway.serve({ port: 0 });
    await first.close();
    await gateway.approvals.approve(confirmationId, BOSS);
    await expect.poll(() => statusOf(gateway, runId), { timeout: 20_000 }).toBe("done");
    expect(ran).toEqual(["read", "pay"]);
  });

  it("goes on with one whose process died in the middle of its first program", async () => {
    const state = withoutReports(shared());
    const first = processOn(state, new Promise(() => {}));
    const gateway = processOn(state, settled);
    await gateway.serve({ port: 0 });
    // The call may have taken effect: the program learns that.
    const code = "try { await bank.read({}) } catch (error) { error.code }";
    first.runCode({ code, principal: BOT }).catch(() => undefined);
    await expect.poll(() => ran).toEqual(["read"]);
    await first.close();
    const ended = async () => (await (await internalsOf(gateway).runs()).list({ limit: 1 }))[0]?.status;
    await expect.poll(ended, { timeout: 20_000 }).toBe("done");
  });
});
