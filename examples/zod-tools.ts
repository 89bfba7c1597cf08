import assert from "node:assert/strict";
import { z } from "zod";
import { formatResult, ToolArsenal } from "toolarsenal";

const arsenal = new ToolArsenal({ telemetry: { level: "error" } });

// The handler's argument is typed from the schema, and has its defaults.
arsenal.register(
  {
    name: "create_invoice",
    namespace: "billing",
    description: "Creates an invoice for a customer.",
    parameters: z.object({
      customer: z.string().describe("Who pays"),
      amount: z.number().positive(),
      currency: z.enum(["EUR", "USD"]).default("EUR"),
    }),
    tags: ["invoice", "create"],
    examples: ["bill Dana 120 euros"],
  },
  ({ customer, amount, currency }) => ({ invoice: 1, text: `${customer} owes ${amount} ${currency}` }),
);

const [tool] = await arsenal.retrieveTools("bill Dana for the consulting", { dialect: "anthropic" });
console.log(JSON.stringify(tool, null, 2));

// A call by the name the model was shown.
const right = { toolName: "billing-create_invoice", arguments: { customer: "Dana", amount: 120 } };
const result = await arsenal.execute(right);
console.log(formatResult(result, right));

// A wrong call is a result that tells the model what to fix.
const wrong = { toolName: "billing-create_invoice", arguments: { customer: "Dana", amount: "a lot" } };
const refused = await arsenal.execute(wrong);
console.log(formatResult(refused, wrong));

assert.deepEqual(result.result, { invoice: 1, text: "Dana owes 120 EUR" });
assert.equal(refused.error?.code, "ARGUMENTS_INVALID");
await arsenal.close();
