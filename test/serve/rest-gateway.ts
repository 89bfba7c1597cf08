import { request } from "node:http";
import { onTestFinished } from "vitest";
import { ToolArsenal, type ToolArsenalConfig, type ToolArsenalParts } from "../../src/index.ts";
import type { ServeOptions } from "../../src/serve/serve-arsenal.ts";

/** An answer of the REST API. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- because tests read whatever JSON an operation answers
  readonly body: any;
  readonly text: string;
}

/** Asks an operation, with a JSON body if there is one. */
export type Ask = (
  method: string,
  path: string,
  given?: {
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  },
) => Promise<RestAnswer>;

/** A gateway over an arsenal with a few tools, closed when the test ends. */
export async function openGateway(
  options: ServeOptions = {},
  config: ToolArsenalConfig = {},
  parts: ToolArsenalParts = {},
) {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, registries: [], ...config, ...parts });
  registerTools(arsenal);
  const gateway = await arsenal.serve({ port: 0, ...options });
  const close = async (): Promise<void> => {
    await gateway.close();
    await arsenal.close();
  };
  onTestFinished(close);
  const url = gateway.url ?? "";
  return { arsenal, gateway, url, ask: askAt(`${url}/api/v1`), close };
}

/** Tools of a small shop: one that works, one that fails, one that a person must approve, one that tells its progress. */
export function registerTools(arsenal: ToolArsenal): void {
  const invoice = { type: "object", properties: { invoiceId: { type: "string" } }, required: ["invoiceId"] } as const;
  arsenal.register(
    {
      name: "get_invoice",
      namespace: "billing",
      description: "Returns an invoice with its lines.",
      parameters: invoice,
      tags: ["invoice"],
    },
    ({ invoiceId }) => ({ found: invoiceId }),
  );
  arsenal.register(
    {
      name: "list_invoices",
      namespace: "billing",
      description: "Lists the invoices of a customer.",
      annotations: { readOnly: true, confirmed: true },
    },
    () => [],
  );
  arsenal.register({ name: "break", namespace: "shop", description: "Always fails, whatever it is asked." }, () => {
    throw new Error("It broke.");
  });
  arsenal.register(
    {
      name: "close_account",
      namespace: "shop",
      description: "Closes the account of a customer for good.",
      parameters: { type: "object", properties: { reason: { type: "string" } } },
      requiresConfirmation: true,
    },
    () => "closed",
  );
  arsenal.register(
    { name: "ship", namespace: "shop", description: "Ships a parcel, step by step." },
    (_args, context) => {
      context.progress({ progress: 1, total: 2, message: "packed" });
      context.progress({ progress: 2, total: 2, message: "sent" });
      return { shipped: true };
    },
  );
}

export function askAt(base: string): Ask {
  return async (method, path, { body, headers, signal } = {}) => {
    const response = await fetch(base + path, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== "" ? JSON.parse(text) : undefined,
    };
  };
}

/** Asks with headers that `fetch` does not let a program set, such as Host, Origin and Sec-Fetch-Site. */
export function askRaw(
  url: string,
  given: { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string },
): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly body: string }> {
  const { method = "GET", headers = {}, body = "" } = given;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts).toString() }),
      );
    });
    sent.once("error", reject).end(body);
  });
}

/** The events of a stream that has ended. */
export function eventsOf(text: string): readonly { readonly event: string; readonly data: unknown }[] {
  return text
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => ({
      event: /^event: (.*)$/m.exec(block)?.[1] ?? "message",
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "null") as unknown,
    }));
}
