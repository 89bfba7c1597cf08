import { describe, expect, it, onTestFinished } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import type { ToolArsenalConfig } from "../../src/config/config.ts";
import { documentOf, startEcho } from "./openapi-echo.ts";

const responses = { 200: { description: "Done." } };

/** How a call of the one operation ends, and what it says. */
async function call(
  method: string,
  path: string,
  operation: object = {},
  security: ToolArsenalConfig["security"] = {},
): Promise<readonly [status: string, message: string | undefined]> {
  const server = await startEcho();
  onTestFinished(() => server.close());
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, security });
  const document = documentOf({ [path]: { [method]: { responses, ...operation } } });
  await arsenal.add({ type: "openapi", name: "bank", document, server: server.url });
  const [tool] = await arsenal.listTools();
  const { status, error } = await arsenal.execute({ toolName: tool?.id ?? "" });
  expect(server.sent).toHaveLength(status === "success" ? 1 : 0);
  return [status, error?.message];
}

describe("an operation of an API asks for approval", () => {
  it.each([
    ["post", "/v1/transfers", {}, "payment_*"],
    ["post", "/payments", { operationId: "createPayment" }, "payment_*"],
    ["put", "/invoice/pay", {}, "payment_*"],
    ["post", "/actions/7", { summary: "Refunds an order." }, "refund_*"],
    ["post", "/users/deleteMany", {}, "delete_*"],
    ["patch", "/things", { operationId: "purgeThings" }, "delete_*"],
  ])("if it moves money or deletes: %s %s %j", async (method, path, operation, pattern) => {
    const [status, message] = await call(method, path, operation);
    expect(status).toBe("pending_confirmation");
    expect(message).toContain(`it matches ${pattern}. (rule security.require_confirmation)`);
  });

  it("if its method is DELETE", async () => {
    expect((await call("delete", "/things"))[0]).toBe("pending_confirmation");
  });

  it("unless the operator chose other names", async () => {
    expect(await call("post", "/v1/transfers", {}, { requireConfirmation: [] })).toEqual(["success", undefined]);
    expect(await call("post", "/v1/transfers", {}, { requireConfirmation: ["bank.payment_*"] })).toMatchObject([
      "pending_confirmation",
      expect.any(String),
    ]);
  });
});

it.each([
  ["get", "/v1/transfers", {}],
  ["get", "/payments", { operationId: "listPayments" }],
  ["post", "/notes", { summary: "Writes a note about a payment." }],
  ["post", "/dropdowns", {}],
])("runs an operation that does neither at once: %s %s %j", async (method, path, operation) => {
  expect(await call(method, path, operation)).toEqual(["success", undefined]);
});
