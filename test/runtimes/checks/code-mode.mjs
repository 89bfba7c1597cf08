// A program that a model wrote runs in the QuickJS sandbox and calls a tool.
import assert from "node:assert/strict";
import { createPrincipal, ToolArsenal } from "toolarsenal";

const arsenal = new ToolArsenal();
arsenal.register({ name: "double", namespace: "math", description: "Doubles a number." }, ({ number }) => number * 2);
const code = "return await tools.math.double({ number: 21 });";
const { status, value, error } = await arsenal.runCode({ code, principal: createPrincipal({ id: "agent" }) });
if (error !== undefined) throw new Error(error.message);
assert.deepEqual([status, value], ["success", 42]);
await arsenal.close();
