import type { IncomingMessage, ServerResponse } from "node:http";
import type { Identity } from "../../guard/identity.port.ts";
import type { Principal } from "../../guard/principal.ts";

/** A request that passed the checks every route shares: Host, Origin, identity. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly principal: Principal;
}

/** Answers the requests to one path, or to everything below it where the path ends in `/`. */
export interface Route {
  readonly path: string;
  /** True for what tells nothing and needs no identity: /healthz, /readyz. */
  readonly open?: boolean;
  handle(exchange: HttpExchange): Promise<void> | void;
}

/** How the gateway listens. */
export interface HttpServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 8080; 0 takes a free one. */
  readonly port?: number;
  readonly routes: readonly Route[];
  /** Without one every caller is the local operator, and only loopback is listened on. */
  readonly identity?: Identity;
  /** Names, beside loopback's and the bound host, by which clients may call this server. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may call it, beside loopback's. */
  readonly allowedOrigins?: readonly string[];
}

/** A listening server. */
export interface HttpServer {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** Stops listening, ends open streams and resolves when every connection is closed. */
  close(): Promise<void>;
}
