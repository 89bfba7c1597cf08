import assert from "node:assert/strict";
import type { AgentMessage, Llm, LlmRequest, LlmTurn } from "../agent/llm.port.ts";
import type { Tool } from "../tool/tool.ts";
import { toAlias } from "../transcode/alias.ts";
import type { AnsweredCall } from "../transcode/dialect.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { resultOf, sampleTools } from "./sample-tools.ts";

/** One scripted turn of the model behind an adapter. */
export interface ModelTurn {
  readonly text?: string;
  /** The name in each call is the tool's alias. */
  readonly calls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
}

/** Creates an adapter whose model returns these turns, one per request. */
export type MakeLlm = (turns: readonly ModelTurn[]) => ReturnType<Make<Llm>>;

/** The contract of every model. */
export function llmContract(make: MakeLlm): readonly ContractCase[] {
  const tools = sampleTools();
  const asked: AgentMessage = { role: "user", text: "Write to Dana and look up the orders. 🦊" };
  const email = { name: aliasOf(tools, "send_email"), arguments: { to: "Dana", subject: "Héllo", body: 'a\n"b"' } };
  const orders = { name: aliasOf(tools, "query_database"), arguments: { sql: "SELECT 1", limit: 3 } };
  const both: ModelTurn = { text: "I will do both.", calls: [email, orders] };
  const bye: ModelTurn = { text: "Done: Dana knows. ✅" };

  const claim = (name: string, turns: readonly ModelTurn[], check: (llm: Llm) => Promise<void>) =>
    contract(() => make(turns), {
      [name]: async (llm) => {
        await check(llm);
        llm.close();
      },
    });

  return [
    claim("has a name, answers, and counts tokens", [bye], async (llm) => {
      assert.match(llm.name, /^[a-z_]+\/./);
      const turn = await llm.next({ system: "Be brief.", messages: [asked], tools });
      assert.equal(turn.message.text, bye.text);
      assert.deepEqual(turn.message.calls, []);
      assert.equal(turn.stop, "answer");
      for (const count of Object.values(turn.usage)) assert.ok(Number.isInteger(count) && count >= 0);
    }),
    claim(
      "reads calls that execute understands, and continues with their results",
      [both, { calls: [email] }, bye],
      async (llm) => {
        const first = await llm.next({ messages: [asked], tools });
        assert.equal(first.stop, "calls");
        assert.equal(first.message.text, both.text);
        assert.deepEqual(callsOf(first), [email, orders]);
        assert.equal(new Set(first.message.calls.map(({ id }) => id)).size, 2);
        const messages = [asked, ...answered(first, ["sent", { rows: [1] }])];
        const second = await llm.next({ messages, tools });
        assert.deepEqual(callsOf(second), [email]);
        const last = await llm.next({ messages: [...messages, ...answered(second, ["sent again"])], tools });
        assert.equal(last.message.text, bye.text);
      },
    ),
    claim("streams the text as it arrives, and gives the same turn as without", [both, both, bye, bye], async (llm) => {
      for (const wanted of [both, bye]) {
        const pieces: string[] = [];
        const request: LlmRequest = { messages: [asked], tools };
        const whole = await llm.next(request);
        const streamed = await llm.next({ ...request, onText: (text) => pieces.push(text) });
        assert.equal(pieces.join(""), wanted.text);
        assert.ok(pieces.length > 1 && !pieces.includes(""));
        assert.deepEqual(callsOf(streamed), callsOf(whole));
        assert.equal(streamed.message.text, whole.message.text);
        assert.equal(streamed.stop, whole.stop);
        assert.deepEqual(streamed.usage, whole.usage);
      }
    }),
    claim(
      "continues a conversation that was saved as JSON, streamed or not",
      [both, { calls: [orders] }, bye],
      async (llm) => {
        const first = await llm.next({ messages: [asked], tools, onText: () => {} });
        const saved = JSON.stringify([asked, ...answered(first, ["sent", [1]])]);
        const second = await llm.next({ messages: JSON.parse(saved) as AgentMessage[], tools });
        const messages = [...(JSON.parse(saved) as AgentMessage[]), ...answered(second, [7])];
        const last = await llm.next({ messages, tools, onText: () => {} });
        assert.equal(last.message.text, bye.text);
      },
    ),
    claim("shows the model a call that failed", [{ calls: [orders] }, bye], async (llm) => {
      const first = await llm.next({ messages: [asked], tools });
      const [read] = first.message.calls;
      assert.ok(read);
      const error = { code: "EXECUTION_FAILED", message: "The table does not exist." } as const;
      const result = { ...resultOf(read.call.toolName, undefined), status: "failure" as const, error };
      const messages: AgentMessage[] = [
        asked,
        first.message,
        { role: "tool", format: "native", results: [{ read, result }] },
      ];
      assert.equal((await llm.next({ messages, tools })).message.text, bye.text);
    }),
    claim(
      "takes results as text, of calls it made and of calls read from its text",
      [{ calls: [orders] }, bye, bye],
      async (llm) => {
        const first = await llm.next({ messages: [asked], tools });
        assert.equal((await llm.next({ messages: [asked, ...answered(first, [1], "text")], tools })).stop, "answer");
        const read = { id: "call_1", idMadeUp: true, call: { toolName: orders.name, arguments: {} } } as const;
        const written: AgentMessage = { role: "assistant", text: '{"function_call": {}}', calls: [read] };
        const results = [{ read, result: resultOf(orders.name, 1) }];
        const messages: AgentMessage[] = [asked, written, { role: "tool", format: "text", results }];
        assert.equal((await llm.next({ messages, tools: [] })).stop, "answer");
      },
    ),
    claim("continues a conversation that another provider's model began", [bye], async (llm) => {
      const id = (n: number) => ({ id: `call_${n}`, idMadeUp: true }) as const;
      const turn = (text: string): AgentMessage[] => {
        const calls = [email, orders].map(({ name, arguments: args }, n) => ({
          ...id(n),
          call: { toolName: name, arguments: args },
        }));
        const results = calls.map((read) => ({ read, result: resultOf(read.call.toolName, "fine") }));
        return [
          { role: "assistant", text, calls, native: { provider: "somebody else", content: { secret: "signed" } } },
          { role: "tool", format: "native", results },
        ];
      };
      const messages = [asked, ...turn("Let me see."), ...turn(""), { role: "user", text: "And?" } as const];
      assert.equal((await llm.next({ messages, tools })).message.text, bye.text);
    }),
    claim("leaves out unanswered calls", [both, bye, bye, bye], async (llm) => {
      const turn = await llm.next({ messages: [asked], tools });
      const { text, calls } = turn.message;
      const [, results] = answered(turn, ["sent"]);
      assert.ok(results?.role === "tool");
      const conversations: readonly AgentMessage[][] = [
        [turn.message],
        [{ role: "assistant", text, calls }],
        [turn.message, { ...results, results: results.results.slice(0, 1) }],
      ];
      for (const conversation of conversations) {
        const messages: AgentMessage[] = [asked, ...conversation, { role: "user", text: "Never mind." }];
        assert.equal((await llm.next({ messages, tools })).message.text, bye.text);
      }
    }),
    claim("goes on after a turn in which the model said nothing", [{}, bye], async (llm) => {
      const { message, stop } = await llm.next({ messages: [asked], tools });
      assert.deepEqual([message.text, message.calls, stop], ["", [], "answer"]);
      const messages: AgentMessage[] = [asked, message, { role: "user", text: "Well?" }];
      assert.equal((await llm.next({ messages, tools })).message.text, bye.text);
    }),
    claim("does not change what it is given", [bye], async (llm) => {
      const request = { system: "Be brief.", messages: [asked], tools };
      const before = structuredClone(request);
      await llm.next(request);
      assert.deepEqual(request, before);
    }),
    claim("stops when the signal fires, with its reason", [], async (llm) => {
      const reason = new Error("enough");
      const signal = AbortSignal.abort(reason);
      await assert.rejects(llm.next({ messages: [asked], tools, signal }), reason);
      await assert.rejects(llm.next({ messages: [asked], tools, signal, onText: () => {} }), reason);
    }),
  ].flat();
}

function aliasOf(tools: readonly Tool[], name: string): string {
  const tool = tools.find((each) => each.name === name);
  assert.ok(tool);
  return toAlias(tool.id);
}

function callsOf({ message }: LlmTurn): unknown {
  return message.calls.map(({ call }) => ({ name: call.toolName, arguments: call.arguments }));
}

/** Returns a turn with the results of its calls, in order. */
function answered(
  { message }: LlmTurn,
  values: readonly unknown[],
  format: "native" | "text" = "native",
): AgentMessage[] {
  const results = message.calls.map((read, at): AnsweredCall => ({
    read,
    result: resultOf(read.call.toolName, values[at]),
  }));
  return [message, { role: "tool", format, results }];
}
