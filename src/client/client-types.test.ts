import { expectTypeOf, it } from "vitest";
import type { ToolArsenal } from "../index.ts";
import type { OpenAiTool } from "../adapters/dialects/openai/openai.ts";
import type { AnthropicTool } from "../adapters/dialects/anthropic.ts";
import { type Arsenal, type ArsenalClient, createClient } from "./index.ts";

/** What a value is, awaited if it is a promise. */
type Come<Value> = Value extends (...given: never) => infer Answer ? Awaited<Answer> : Awaited<Value>;

it("an embedded arsenal and a client are both an Arsenal, so that code moves by changing one line", () => {
  expectTypeOf<ToolArsenal>().toExtend<Arsenal>();
  expectTypeOf<ArsenalClient>().toExtend<Arsenal>();
});

it("a client's methods take and give what the façade's do", () => {
  type Shared = Exclude<keyof Arsenal, "add" | "approvals" | "pins" | "retrieveTools" | "subscribe">;
  type Facade = { [Key in Shared]: Come<ToolArsenal[Key]> };
  type Client = { [Key in Shared]: Come<ArsenalClient[Key]> };
  expectTypeOf<Client>().toEqualTypeOf<Facade>();
  type Methods = Exclude<Shared, "toolCount">;
  type Takes<Of extends Arsenal> = { [Key in Methods]: Parameters<Of[Key]> };
  expectTypeOf<Takes<ArsenalClient>>().toExtend<{ [Key in Methods]: Parameters<ToolArsenal[Key]> }>();
});

it("retrieveTools gives the types of the dialect that was named", () => {
  const client = createClient({ url: "http://127.0.0.1:1" });
  const openai = (): Promise<OpenAiTool[]> => client.retrieveTools("x");
  const anthropic = (): Promise<AnthropicTool[]> => client.retrieveTools("x", { dialect: "anthropic" });
  expectTypeOf(openai).returns.resolves.toEqualTypeOf<OpenAiTool[]>();
  expectTypeOf(anthropic).returns.resolves.toEqualTypeOf<AnthropicTool[]>();
});

it("what cannot be remote does not compile", () => {
  expectTypeOf<ArsenalClient>().not.toHaveProperty("register");
  expectTypeOf<ArsenalClient>().not.toHaveProperty("serve");
  expectTypeOf<ArsenalClient>().not.toHaveProperty("serveMcp");
  expectTypeOf<Parameters<ArsenalClient["execute"]>[0]>().not.toHaveProperty("principal");
  expectTypeOf<Parameters<ArsenalClient["addTool"]>>().toHaveProperty("length").toEqualTypeOf<1>();
});
