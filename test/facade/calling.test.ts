import { internalsOf } from "../../src/arsenal.ts";
import { describe, expect, it } from "vitest";
import { ArsenalError, localOperator, type Principal, type ToolDraft } from "../../src/index.ts";
import { createManualClock } from "../../src/testing/index.ts";
import { ARSENALS, guest, look } from "./opened.ts";

const call = { toolName: "look_around" };
const readOnly: ToolDraft = { ...look, annotations: { readOnly: true } };

/** What becomes of calls. */
describe.each(ARSENALS)("an arsenal, %s:", (_where, open) => {
  describe("a call", () => {
    it("returns what the handler returns, at once or later [001-invoker-sync] [000-14-execute]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool({ ...look, name: "now" }, () => ({ seen: ["a", 1, null] }));
      await host.addTool({ ...look, name: "later" }, () => Promise.resolve(2));
      expect(await arsenal.execute({ toolName: "now" })).toMatchObject({
        toolName: "now",
        toolId: "default.now",
        status: "success",
        attempts: 1,
        result: { seen: ["a", 1, null] },
      });
      expect((await arsenal.execute({ toolName: "later" })).result).toBe(2);
    });

    it("tells its handler the tool, a signal, its ids and the attempt, and its caller the progress [001-context-tool] [001-context-signal]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      const seen: unknown[] = [];
      const progress: unknown[] = [];
      await host.addTool(readOnly, (_args, context) => {
        context.progress({ progress: context.attempt, total: 2 });
        seen.push([context.tool.id, context.signal.aborted, context.traceId, context.spanId.length, context.attempt]);
        if (context.attempt === 1) throw new Error("not yet");
      });
      const onProgress = (update: object): unknown => progress.push(update);
      expect((await arsenal.execute({ ...call, traceId: "mine", onProgress })).status).toBe("success");
      expect(seen).toEqual([
        ["default.look_around", false, "mine", 16, 1],
        ["default.look_around", false, "mine", 16, 2],
      ]);
      expect(progress).toEqual([
        { progress: 1, total: 2 },
        { progress: 2, total: 2 },
      ]);
    });

    it("hands what the caller adds to its handler", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool(look, (_args, context) => context.auxdata);
      expect((await arsenal.execute({ ...call, auxdata: { from: "me" } })).result).toEqual({ from: "me" });
    });

    it("keeps the code of an error that its handler chose [001-errors-network] [004-errors-protocol]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      for (const code of ["TRANSPORT_FAILED", "PROTOCOL_ERROR"] as const) {
        const name = code.toLowerCase();
        await host.addTool({ ...readOnly, name }, () => {
          throw new ArsenalError(code, "the server is no good");
        });
        const { status, error, attempts } = await arsenal.execute({ toolName: name, retryCount: 1 });
        expect([status, error?.code, error?.message]).toEqual(["failure", code, "the server is no good"]);
        expect(attempts).toBe(1);
      }
    });

    it("names the nearest tool where its own is not found, and nothing hidden [000-6.3-not-found] [002-errors-not-found]", async () => {
      await using opened = await open({ security: { deny: ["look_around_twice"] } });
      const { arsenal, host } = opened;
      await host.addTool(look, () => 1);
      await host.addTool({ ...look, name: "look_around_twice" }, () => 1);
      const { status, error } = await arsenal.execute({ toolName: "look_arround" });
      expect([status, error?.code]).toEqual(["failure", "TOOL_NOT_FOUND"]);
      expect(error?.message).toContain("default.look_around");
      const hidden = await arsenal.execute({ toolName: "look_around_twic" });
      expect(hidden.error?.message).not.toContain("look_around_twice");
    });

    it("is looked up, checked and authorised before anything runs [002-service-order] [000-3.1-zero-trust]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      let ran = 0;
      const draft: ToolDraft = {
        ...look,
        name: "delete_file",
        parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
        capabilities: ["delete_data"],
      };
      await host.addTool(draft, () => void ran++);
      const code = async (given: object, by: Pick<typeof arsenal, "execute"> = arsenal): Promise<string | undefined> =>
        (await by.execute({ toolName: "delete_file", ...given })).error?.code;
      expect(await code({ toolName: "delete_fil" })).toBe("TOOL_NOT_FOUND");
      expect(await code({ arguments: { path: 1 } })).toBe("ARGUMENTS_INVALID");
      expect(await code({ arguments: { path: "a" } }, opened.as(guest))).toBe("PERMISSION_DENIED");
      expect(await code({ arguments: { path: "a" } })).toBe("CONFIRMATION_REQUIRED");
      expect(ran).toBe(0);
    });

    it("with invalid arguments says which, and what is expected", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      const parameters = { type: "object", properties: { where: { type: "string" } }, required: ["where"] } as const;
      await host.addTool({ ...look, parameters }, () => 1);
      const { error, ...result } = await arsenal.execute({ ...call, arguments: {} });
      expect(result).toMatchObject({ status: "failure", attempts: 0 });
      expect(error).toMatchObject({ code: "ARGUMENTS_INVALID", message: expect.stringContaining("where") as string });
    });

    it("that is malformed is refused as a result", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool(look, () => 1);
      expect(await arsenal.execute({ ...call, timeoutMs: 5 })).toMatchObject({
        status: "failure",
        attempts: 0,
        error: { code: "CALL_INVALID" },
      });
    });

    it("that takes too long ends as a timeout, and its handler's signal fires", async () => {
      const clock = createManualClock(Date.now());
      await using opened = await open({}, { clock });
      const { arsenal, host } = opened;
      const started = Promise.withResolvers<AbortSignal>();
      await host.addTool(readOnly, (_args, { signal }) => {
        started.resolve(signal);
        return new Promise(() => {});
      });
      const running = arsenal.execute({ ...call, timeoutMs: 1000, retryCount: 1 });
      const signal = await started.promise;
      await clock.advance(1000);
      expect(await running).toMatchObject({ status: "timeout", error: { code: "TIMEOUT" } });
      expect(signal.aborted).toBe(true);
    });

    it("that its caller cancels is cancelled, and its handler's signal fires", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      const started = Promise.withResolvers<void>();
      const fired = Promise.withResolvers<void>();
      await host.addTool(look, (_args, { signal }) => {
        signal.addEventListener("abort", () => fired.resolve());
        started.resolve();
        return new Promise(() => {});
      });
      const stop = new AbortController();
      const running = arsenal.execute({ ...call, signal: stop.signal });
      await started.promise;
      stop.abort();
      expect(await running).toMatchObject({ ...call, status: "cancelled", error: { code: "CANCELLED" } });
      await fired.promise;
      const late = await arsenal.execute({ ...call, signal: AbortSignal.abort() });
      expect(late).toMatchObject({ status: "cancelled", attempts: 0 });
    });

    it("of a tool that failed too often meets an open circuit, which a new version closes", async () => {
      await using opened = await open({ execution: { circuitBreakerThreshold: 1 } });
      const { arsenal, host } = opened;
      const broken = (): never => {
        throw new Error("broken");
      };
      const status = async (): Promise<string> => (await arsenal.execute(call)).status;
      host.register({ ...look }, broken);
      expect([await status(), await status()]).toEqual(["failure", "circuit_open"]);
      host.register({ ...look, version: "1.0.1" }, () => "fixed");
      expect(await status()).toBe("success");
      host.register({ ...look, version: "1.0.2" }, broken);
      expect([await status(), await status()]).toEqual(["failure", "circuit_open"]);
      expect(internalsOf(host).health("default.look_around").totalCalls).toBeGreaterThan(0);
      await host.deleteTool("look_around");
      expect(internalsOf(host).health("default.look_around")).toMatchObject({ totalCalls: 0, circuitOpen: false });
      host.register({ ...look }, () => "back");
      expect(await status()).toBe("success");
    });

    it("runs the new handler of a tool that changed, under its new version and parameters", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      host.register({ ...look }, () => "old");
      expect((await arsenal.execute(call)).result).toBe("old");
      host.register({ ...look, version: "2.0.0" }, () => "new");
      expect((await arsenal.execute({ toolName: "default.look_around:2.0.0" })).result).toBe("new");
      const gone = await arsenal.execute({ toolName: "default.look_around:1.0.0" });
      expect(gone.error?.message).toContain('the registered version is "default.look_around:2.0.0"');
      expect(await arsenal.toolCount).toBe(1);
      host.register({ ...look, parameters: { type: "object", required: ["where"] } }, () => 1);
      expect((await arsenal.execute(call)).error?.code).toBe("ARGUMENTS_INVALID");
    });

    it("is confirmed, and limited for a remote caller, with no configuration at all [000-3.1-fail-safe]", async () => {
      await using opened = await open({}, { clock: createManualClock() });
      const { arsenal, host } = opened;
      await host.addTool(look, () => 1);
      await host.addTool({ ...look, name: "drop_table" }, () => 1);
      expect((await arsenal.execute({ toolName: "drop_table" })).status).toBe("pending_confirmation");
      const loop = async (principal: Principal): Promise<readonly (string | undefined)[]> => {
        const codes = new Set<string | undefined>();
        for (let count = 0; count < 1_201; count++) codes.add((await host.execute({ ...call, principal })).error?.code);
        return [...codes];
      };
      expect(await loop(localOperator({ id: "agent", local: false }))).toEqual([undefined, "RATE_LIMITED"]);
      // The program's own loop is not stopped.
      expect(await loop(localOperator())).toEqual([undefined]);
    });

    it("is thrown if it fails with onFailure: throw, but for one that waits for a person", async () => {
      await using opened = await open({ execution: { onFailure: "throw" } });
      const { arsenal, host } = opened;
      await host.addTool(look, () => {
        throw new Error("blind");
      });
      await host.addTool({ ...look, name: "delete_all" }, () => 1);
      await expect(arsenal.execute(call)).rejects.toMatchObject({
        name: "ArsenalError",
        code: "EXECUTION_FAILED",
        message: expect.stringContaining("blind") as string,
        cause: { status: "failure" },
      });
      await expect(arsenal.execute({ toolName: "nowhere" })).rejects.toMatchObject({ code: "TOOL_NOT_FOUND" });
      expect((await arsenal.execute({ toolName: "delete_all" })).status).toBe("pending_confirmation");
    });
  });

  describe("a call that waits for a person", () => {
    it("runs once, when it was approved, for exactly its arguments", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      let ran = 0;
      await host.addTool({ ...look, name: "delete_file" }, () => ++ran);
      const asked = { toolName: "delete_file", arguments: { path: "a" } };
      const { confirmationId = "", ...waiting } = await arsenal.execute(asked);
      expect(waiting).toMatchObject({ status: "pending_confirmation", error: { code: "CONFIRMATION_REQUIRED" } });
      expect(await opened.approvals.get(confirmationId)).toMatchObject({
        id: confirmationId,
        toolId: "default.delete_file",
        arguments: { path: "a" },
        state: "pending",
      });
      await opened.approvals.approve(confirmationId);
      const other = await arsenal.execute({ ...asked, arguments: { path: "b" }, confirmationId });
      expect(other).toMatchObject({ status: "permission_denied", error: { code: "APPROVAL_INVALID" } });
      expect(await arsenal.execute({ ...asked, confirmationId })).toMatchObject({ status: "success", result: 1 });
      expect((await arsenal.execute({ ...asked, confirmationId })).error?.code).toBe("APPROVAL_INVALID");
      expect([ran, await opened.approvals.list()]).toEqual([1, []]);
    });

    it("does not run once it was denied, and is answered once", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool({ ...look, name: "delete_file" }, () => 1);
      const { confirmationId = "" } = await arsenal.execute({ toolName: "delete_file" });
      await opened.approvals.deny(confirmationId);
      const denied = await arsenal.execute({ toolName: "delete_file", confirmationId });
      expect(denied.error?.code).toBe("APPROVAL_INVALID");
      await expect(opened.approvals.approve(confirmationId)).rejects.toMatchObject({ code: "APPROVAL_INVALID" });
    });

    it("cannot waive a confirmation, only ask for one [000-4.3-require-confirmation] [000-6.3-confirmation]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool({ ...look, name: "delete_file" }, () => 1);
      await host.addTool(look, () => 1);
      await host.addTool({ ...look, name: "own_wish", requiresConfirmation: true }, () => 1);
      const status = async (toolName: string, requireConfirmation?: boolean): Promise<string> =>
        (await arsenal.execute({ toolName, ...(requireConfirmation === undefined ? {} : { requireConfirmation }) }))
          .status;
      expect(await status("look_around")).toBe("success");
      expect(await status("look_around", true)).toBe("pending_confirmation");
      expect(await status("delete_file", false)).toBe("pending_confirmation");
      expect(await status("own_wish", false)).toBe("pending_confirmation");
    });
  });

  describe("a call with an idempotency key", () => {
    it("runs once, however often it is repeated, and not with other arguments", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      let ran = 0;
      await host.addTool(look, () => ++ran);
      const keyed = { ...call, arguments: { at: 1 }, idempotencyKey: "Schlüssel 1" };
      expect(await arsenal.execute(keyed)).toMatchObject({ status: "success", result: 1 });
      expect(await arsenal.execute(keyed)).toMatchObject({ status: "success", result: 1, replayed: true });
      const conflict = await arsenal.execute({ ...keyed, arguments: { at: 2 } });
      expect(conflict).toMatchObject({ status: "failure", attempts: 0, error: { code: "IDEMPOTENCY_CONFLICT" } });
      expect(ran).toBe(1);
    });
  });

  describe("a batch", () => {
    it("meets the same guard as a call alone, with any strategy [000-3.2-same-guard] [000-14-execute-batch]", async () => {
      await using opened = await open({ security: { deny: ["secret_*"] } });
      const { host } = opened;
      const names = ["look_around", "delete_file", "secret_plan", "spend_money"];
      for (const name of names) {
        await host.addTool(
          { ...look, name, ...(name === "spend_money" ? { capabilities: ["financial"] } : {}) },
          () => 1,
        );
      }
      const visitor = opened.as(guest);
      const calls = names.map((toolName) => ({ toolName }));
      const alone = [];
      for (const each of calls) alone.push((await visitor.execute(each)).status);
      expect(alone).toEqual(["success", "pending_confirmation", "failure", "permission_denied"]);
      for (const strategy of ["parallel", "sequential", "adaptive"] as const) {
        const batch = await visitor.executeBatch({ calls, strategy });
        expect(batch.results.map(({ status }) => status)).toEqual(alone);
        expect([batch.successfulCount, batch.failedCount]).toEqual([1, 2]);
      }
    });

    it("stops at the first failure with failFast", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      const ran: string[] = [];
      for (const name of ["one", "two", "three"]) {
        await host.addTool({ ...look, name }, () => {
          ran.push(name);
          if (name === "two") throw new Error("no");
        });
      }
      const calls = ["one", "two", "three"].map((toolName) => ({ toolName }));
      const { results } = await arsenal.executeBatch({ calls, strategy: "sequential", failFast: true });
      expect(results.map(({ status }) => status)).toEqual(["success", "failure", "cancelled"]);
      expect(ran).toEqual(["one", "two"]);
    });

    it("runs in order, or at once", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      const both = Promise.withResolvers<void>();
      let started = 0;
      await host.addTool(look, async () => {
        if (++started === 2) both.resolve();
        await both.promise;
        return started;
      });
      const { results } = await arsenal.executeBatch({ calls: [call, call], strategy: "parallel" });
      expect(results.map(({ result }) => result)).toEqual([2, 2]);
    });
  });
});
