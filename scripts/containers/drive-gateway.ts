import assert from "node:assert/strict";
import { chromium as driver } from "playwright-core";
import type { Client } from "@modelcontextprotocol/client";
import { httpClient } from "../../test/e2e/no-bypass/clients.ts";
import { eventually } from "../../test/e2e/replicas/eventually.ts";
import type { Upstream } from "../../test/e2e/replicas/upstream.ts";
import { visit } from "../../test/e2e/dashboard/visit.ts";
import { chromium } from "../../test/peers/peers.ts";
import type { Container } from "./container.ts";

/** A gateway and the key of its operator. */
export interface Reached {
  readonly url: string;
  readonly key: string;
}

/** An answer of the REST API. */
export interface RestAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a request to the REST API. */
export async function rest({ url, key }: Reached, path: string, body?: object, headers = {}): Promise<RestAnswer> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as RestAnswer["body"] };
}

/** Opens an MCP client of the newest protocol. */
export function mcp({ url, key }: Reached): Promise<Client> {
  return httpClient("modern", `${url}/mcp`, { authorization: `Bearer ${key}` });
}

/** Resolves when the gateway takes requests, with the milliseconds that took. */
export function ready(url: string, container: Container): Promise<number> {
  let ended: number | null | undefined;
  void container.exited.then((code) => (ended = code ?? -1));
  return eventually(`${url} is ready`, async () => {
    assert.equal(ended, undefined, `The container ended with ${ended}.\n${container.log()}`);
    return fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  });
}

/** Books one seat over MCP and one over REST, searches, and looks at both. */
export async function drive(gateway: Reached, name: string): Promise<void> {
  const client = await mcp(gateway);
  try {
    const { tools } = await client.listTools();
    assert.ok(
      tools.some((tool) => tool.name === "upstream-book"),
      tools.map((tool) => tool.name).join(),
    );
    const booked = await client.callTool({ name: "upstream-book", arguments: { id: `${name} mcp` } });
    assert.deepEqual(booked.content, [{ type: "text", text: `booked ${name} mcp` }]);
  } finally {
    await client.close();
  }
  const found = await rest(gateway, "/search", { context: { query: "book a seat" } });
  assert.match(JSON.stringify(found.body), /upstream\.book/);
  const body = { toolName: "upstream.book", arguments: { id: `${name} rest` } };
  const made = await rest(gateway, "/execute", body, { "idempotency-key": name });
  assert.deepEqual([made.status, made.body["status"]], [200, "success"], JSON.stringify(made.body));
}

/** Signs in to the dashboard in a browser and reads the catalog there. Returns what was done. */
export async function driveDashboard({ url, key }: Reached): Promise<string> {
  const page = await fetch(`${url}/ui/`);
  const html = await page.text();
  const script = /src="([^"]+\.js)"/.exec(html)?.[1] ?? "";
  const code = await fetch(new URL(script, page.url));
  assert.deepEqual([page.status, code.status], [200, 200], `The dashboard's page or its script ${script} is missing`);
  const program = chromium();
  if (program === undefined) return "its page and script were fetched; no browser is installed";
  const browser = await driver.launch({ executablePath: program, args: ["--no-sandbox"] });
  try {
    const seen = await visit(browser, `${url}/ui/catalog`);
    await seen.page.getByLabel("API key").fill(key);
    await seen.page.getByRole("button", { name: "Sign in" }).click();
    await seen.page
      .getByText(/upstream.book/)
      .first()
      .waitFor();
    await seen.close();
    return "signed in with Chromium and found upstream.book in the catalog";
  } finally {
    await browser.close();
  }
}

/** The outcome of a call that was running when the gateway got SIGTERM. */
export interface Outcome {
  readonly id: string;
  /** The text of its result, or why there is none. */
  readonly said: string;
}

/** Starts calls over MCP and REST that the upstream holds, and resolves once all of them are held. */
export async function startHeldCalls(
  gateway: Reached,
  upstream: Upstream,
  ids: readonly string[],
): Promise<readonly Promise<Outcome>[]> {
  const held = new Set<string>();
  upstream.events.on("held", (id) => held.add(id));
  const client = await mcp(gateway);
  const calls = ids.map(async (id, index): Promise<Outcome> => {
    const given = { arguments: { id } };
    try {
      if (index % 2 === 0) {
        const { content } = await client.callTool({ name: "upstream-hold", ...given });
        return { id, said: (content as readonly { readonly text?: string }[]).map(({ text }) => text).join() };
      }
      const { status, body } = await rest(gateway, "/execute", { toolName: "upstream.hold", ...given });
      const { content } = (body["result"] ?? {}) as { readonly content?: readonly { readonly text: string }[] };
      return { id, said: content?.[0]?.text ?? `${status} ${JSON.stringify(body)}` };
    } catch (error) {
      return { id, said: `no answer: ${String(error)}` };
    }
  });
  await eventually("all calls are held", () => held.size === ids.length);
  return calls;
}
