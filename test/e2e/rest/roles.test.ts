import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../../../src/serve/rest/operations/all.ts";
import { operate } from "./operated-gateway.ts";

describe("the role of operators", () => {
  it("can have another name, which then is the one that counts", async () => {
    const gateway = await operate({ server: { operatorRole: "admin" } });
    expect((await gateway.ask("admin", "GET", "/ensembles")).status).toBe(200);
    expect((await gateway.ask("admin", "GET", "/pins")).status).toBe(200);
    expect((await gateway.ask("olga", "GET", "/ensembles")).body).toMatchObject({
      status: 403,
      code: "PERMISSION_DENIED",
      detail: expect.stringContaining('"olga" lacks the role "admin"'),
    });
    const local = await operate({ server: { operatorRole: "admin" } }, { local: true });
    expect((await local.ask("olga", "GET", "/ensembles")).status).toBe(200);
  });

  it("is needed for everything that changes the gateway or shows what callers do", async () => {
    const gateway = await operate();
    const guarded = OPERATIONS.filter(({ role }) => role !== undefined);
    expect(guarded.length).toBeGreaterThan(20);
    for (const { id, method, path, role } of guarded) {
      const { status } = await gateway.ask("guest", method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "x"));
      expect([id, role, status]).toEqual([id, role, 403]);
    }
    const open = OPERATIONS.filter(({ role, method }) => role === undefined && method !== "get").map(({ id }) => id);
    // A program that a caller saves waits for an operator, and a caller removes only its own proposals.
    const programs = ["runCode", "describeTools", "cancelRun", "saveProgram", "removeSavedProgram"];
    const own = [...programs, "signInConnection", "signOutConnection"];
    expect(open).toEqual(["search", "retrieveTools", "exportTools", "execute", "executeBatch", ...own]);
  });

  it("does not help with a gateway that serves one toolset", async () => {
    const gateway = await operate(
      { toolsets: [{ name: "few", include: { namespaces: ["none"] } }] },
      { toolset: "few" },
    );
    for (const path of ["/ensembles", "/audit", "/events"])
      expect((await gateway.ask("olga", "GET", path)).status).toBe(404);
    expect((await gateway.ask("olga", "GET", "/pins")).status).toBe(403);
  });
});
