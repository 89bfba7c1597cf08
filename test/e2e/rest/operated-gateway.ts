import { onTestFinished } from "vitest";
import { bearerToken } from "../../../src/adapters/identity/index.ts";
import {
  CAPABILITIES,
  type Principal,
  ToolArsenal,
  type ToolArsenalConfig,
  type ToolArsenalParts,
} from "../../../src/index.ts";

const principal = (id: string, roles: readonly string[], tenant?: string): Principal => ({
  id,
  roles,
  capabilities: CAPABILITIES,
  scopes: ["*"],
  local: false,
  ...(tenant !== undefined && { tenant }),
});

/** Everybody whom the gateway of a test knows. */
const PEOPLE = {
  olga: principal("olga", ["operator"]),
  nora: principal("nora", ["operator"], "north"),
  ada: principal("ada", ["approver"]),
  guest: principal("guest", []),
  admin: principal("admin", ["admin"]),
} as const;
export type Person = keyof typeof PEOPLE;

const tokenOf = (name: string): string => `${name}-has-a-token-of-its-own`;
const identity = bearerToken({
  tokens: Object.values(PEOPLE).map((person) => ({ token: tokenOf(person.id), principal: person })),
});

export interface Answer {
  readonly status: number;
  // The tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly headers: Headers;
}

/** A gateway with callers, and a way to ask it. */
export interface OperatedGateway {
  readonly arsenal: ToolArsenal;
  readonly url: string;
  /** Ends serving. The test's end does it too. */
  close(): Promise<void>;
  /** Sends JSON, if any is given, in somebody's name. */
  ask(who: Person, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Opens a stream of events in somebody's name. It ends with the test. */
  open(who: Person, path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** Serves an arsenal to the people above, or without `identity` to the local operator. Everything ends with the test. */
export async function operate(
  config: ToolArsenalConfig = {},
  options: {
    readonly parts?: ToolArsenalParts;
    readonly local?: boolean;
    readonly toolset?: string;
    readonly fill?: (a: ToolArsenal) => unknown;
  } = {},
): Promise<OperatedGateway> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, registries: [], ...config, ...options.parts });
  onTestFinished(() => arsenal.close());
  await options.fill?.(arsenal);
  const { toolset } = options;
  const served = await arsenal.serve({
    port: 0,
    ...(options.local !== true && { identity }),
    ...(toolset !== undefined && { toolset }),
  });
  onTestFinished(() => served.close());
  const url = `${served.url}/api/v1`;
  const as = (who: Person): Record<string, string> =>
    options.local === true ? {} : { authorization: `Bearer ${tokenOf(who)}` };
  return {
    arsenal,
    url,
    close: () => served.close(),
    async ask(who, method, path, body) {
      const headers = { ...as(who), ...(method !== "GET" && { "content-type": "application/json" }) };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(url + path, { method, headers, ...sent });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text), headers: response.headers };
    },
    open(who, path, headers = {}) {
      const controller = new AbortController();
      onTestFinished(() => controller.abort());
      const accept = "text/event-stream";
      return fetch(url + path, { headers: { ...as(who), accept, ...headers }, signal: controller.signal });
    },
  };
}
