import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "../../guard/principal.ts";
import type { TraceContext } from "../../observe/trace-context.ts";
import type { HttpExchange, OnRevoked } from "../surface.ts";
import type { CheckedJson, ReadLimits } from "./read-json.ts";

/** The members of an exchange that are known once the request has passed its checks. */
type ExchangeParts = Pick<HttpExchange, "request" | "response" | "principal" | "onRevoked" | "trace" | "json"> & {
  readonly url: () => URL;
  readonly address: () => string;
};

/**
 * A request whose address is computed only for routes that read it. It is a class because of its accessors: in an object literal, they would give
 * every request its own hidden class, which keeps the request alive until the next full garbage collection.
 */
export class ReceivedExchange implements HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly principal: Principal;
  readonly onRevoked: OnRevoked | undefined;
  readonly trace: TraceContext | undefined;
  readonly json: (limits?: ReadLimits) => Promise<CheckedJson>;
  readonly #url: () => URL;
  readonly #address: () => string;

  constructor({ request, response, principal, onRevoked, trace, json, url, address }: ExchangeParts) {
    this.request = request;
    this.response = response;
    this.principal = principal;
    this.onRevoked = onRevoked;
    this.trace = trace;
    this.json = json;
    this.#url = url;
    this.#address = address;
  }

  get url(): URL {
    return this.#url();
  }

  get address(): string {
    return this.#address();
  }
}
