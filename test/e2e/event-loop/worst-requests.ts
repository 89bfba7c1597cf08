import { some } from "../../kit/effort.ts";
import type { HostileRequest, ObservedCaller } from "./observed-gateway.ts";
import { a2a, legacy, modern } from "./protocol-requests.ts";
import { SHAPES } from "./shapes.ts";

const MEBIBYTE = 1024 * 1024;
const API = "/api/v1";
/** Bytes around a value in a request. */
const FRAME = 2_048;

/** A way to send one value, and how many bytes its surface reads. */
interface Carrier {
  readonly who: ObservedCaller;
  readonly mebibytes: number;
  /** How often the value is in the request. Default 1. */
  readonly copies?: number;
  carry(value: unknown): Omit<HostileRequest, "name" | "who">;
}

const execute = (body: object): Omit<HostileRequest, "name" | "who"> => ({ path: `${API}/execute`, body });
let keys = 0;

export const CARRIERS: Readonly<Record<string, Carrier>> = {
  "REST call": { who: "caller", mebibytes: 4, carry: (value) => execute({ toolName: "echo", arguments: { value } }) },
  "REST call of a rightless caller": {
    who: "rightless",
    mebibytes: 4,
    carry: (value) => execute({ toolName: "plant_tree", arguments: { tree: value } }),
  },
  "REST call that does not fit": {
    who: "caller",
    mebibytes: 4,
    copies: 3,
    carry: (value) => execute({ toolName: "choose", arguments: { list: value, codes: value, shape: value } }),
  },
  "REST call that waits": {
    who: "caller",
    mebibytes: 4,
    carry: (value) => execute({ toolName: "delete_page", arguments: { value } }),
  },
  "REST call of no tool": {
    who: "rightless",
    mebibytes: 4,
    carry: (value) => execute({ toolName: "nothing", arguments: { value } }),
  },
  "REST call with a key": {
    who: "caller",
    mebibytes: 4,
    carry: (value) => execute({ toolName: "echo", arguments: { value }, idempotencyKey: `key-${++keys}` }),
  },
  "REST call over OpenAPI": {
    who: "caller",
    mebibytes: 4,
    carry: (value) => execute({ toolName: "pets.addPet", arguments: { name: "Rex", tags: value } }),
  },
  "REST auxdata": {
    who: "caller",
    mebibytes: 4,
    carry: (value) => execute({ toolName: "take", arguments: {}, auxdata: { value } }),
  },
  "REST batch": {
    who: "caller",
    mebibytes: 8,
    carry: (value) => ({ path: `${API}/batch`, body: { calls: [{ toolName: "echo", arguments: { value } }] } }),
  },
  "policy explanation": {
    who: "operator",
    mebibytes: 1,
    carry: (value) => ({
      path: `${API}/policy/explain`,
      body: { toolName: "echo", arguments: { value }, principal: { id: "ada" } },
    }),
  },
  "conversation of a search": {
    who: "rightless",
    mebibytes: 1,
    carry: (value) => ({
      path: `${API}/search`,
      body: { context: { query: "find a pet", recentMessages: [{ role: "user", content: value }] } },
    }),
  },
  "parts of a message of a search": {
    who: "rightless",
    mebibytes: 1,
    copies: 2,
    carry: (value) => ({
      path: `${API}/tools/retrieve`,
      body: {
        query: "find a pet",
        context: { recentMessages: [{ role: "user", content: [{ type: "text", text: value }, value] }] },
      },
    }),
  },
  "tool to register": {
    who: "tenant-operator",
    mebibytes: 1,
    carry: (value) => ({
      path: `${API}/tools`,
      body: {
        name: "posted",
        description: "A tool that was posted.",
        parameters: { type: "object", properties: { a: { type: "string", default: value } } },
      },
    }),
  },
  "modern MCP call": {
    who: "caller",
    mebibytes: 4,
    carry: (value) =>
      modern("tools/call", { name: "execute_tool", arguments: { name: "default.echo", arguments: { value } } }),
  },
  "modern MCP call of a rightless caller": {
    who: "rightless",
    mebibytes: 4,
    carry: (value) =>
      modern("tools/call", { name: "execute_tool", arguments: { name: value, arguments: {}, other: 1 } }),
  },
  "modern MCP search": {
    who: "rightless",
    mebibytes: 4,
    carry: (value) => modern("tools/call", { name: "find_relevant_tools", arguments: { query: value } }),
  },
  "modern MCP metadata": {
    who: "rightless",
    mebibytes: 4,
    carry: (value) => modern("tools/list", { cursor: "none" }, { value }),
  },
  "legacy MCP call": {
    who: "caller",
    mebibytes: 4,
    carry: (value) =>
      legacy("tools/call", { name: "execute_tool", arguments: { name: "default.echo", arguments: { value } } }),
  },
  "legacy MCP completion": {
    who: "rightless",
    mebibytes: 4,
    copies: 2,
    carry: (value) =>
      legacy("completion/complete", {
        ref: { type: "ref/prompt", name: "none" },
        argument: { name: "a", value },
        context: { arguments: { value } },
      }),
  },
  "legacy MCP cursor": { who: "rightless", mebibytes: 4, carry: (value) => legacy("tools/list", { cursor: value }) },
  "legacy MCP prompt": {
    who: "rightless",
    mebibytes: 4,
    carry: (value) => legacy("prompts/get", { name: "none", arguments: { value } }),
  },
  "legacy MCP resource": { who: "rightless", mebibytes: 4, carry: (value) => legacy("resources/read", { uri: value }) },
  "A2A call": {
    who: "caller",
    mebibytes: 4,
    carry: (value) => a2a([{ data: { tool: "default.take", arguments: { value } } }]),
  },
  "A2A text": { who: "rightless", mebibytes: 4, carry: (value) => a2a([{ text: value }]) },
  "A2A data": { who: "rightless", mebibytes: 4, carry: (value) => a2a([{ text: "find a pet" }, { data: { value } }]) },
};

/** Carriers whose values go through every step of a call get every value. */
const WHOLE: ReadonlySet<string> = new Set(["REST call", "REST call that does not fit", "modern MCP call", "A2A call"]);

/** The values that each step over data or text is slowest with. */
const SLOWEST: ReadonlySet<string> = new Set([
  "different words",
  "hidden characters in words",
  "emoji",
  "quotes",
  "JSON of a list",
  "numbers",
  "members",
  "members with hidden names",
  "short texts",
  "deep lists",
]);

/** The worst values in every place where one can be sent. `npm test` sends one of them in each place, another one in each run. */
export function* carriedShapes(): Iterable<HostileRequest> {
  for (const [carrier, { who, mebibytes, copies = 1, carry }] of Object.entries(CARRIERS)) {
    const shapes = Object.keys(SHAPES).filter((shape) => WHOLE.has(carrier) || SLOWEST.has(shape));
    for (const shape of some(shapes, 1, carrier)) {
      const value = SHAPES[shape]?.({ bytes: Math.floor((mebibytes * MEBIBYTE - FRAME) / copies), copies });
      yield { name: `${carrier}: ${shape}`, who, ...carry(value) };
    }
  }
}
