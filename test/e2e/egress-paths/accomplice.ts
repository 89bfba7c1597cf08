import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that the operator trusts and that points wherever it is told to: by redirects, and by what its documents name. */
export interface Accomplice {
  readonly origin: string;
  readonly port: number;
  /** Where it points to. */
  target: string;
  close(): Promise<void>;
}

/** Starts it on loopback. */
export async function startAccomplice(): Promise<Accomplice> {
  const server: Server = createServer((request, response) => answer(new URL(request.url ?? "/", origin), response));
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const accomplice: Accomplice = {
    origin,
    port,
    target: "",
    close() {
      server.closeAllConnections();
      return new Promise((closed) => void server.close(() => closed()));
    },
  };

  function answer({ pathname }: URL, response: ServerResponse): void {
    const { target } = accomplice;
    switch (pathname) {
      case "/redirect":
      case "/search":
      case "/moved/.well-known/openid-configuration":
        return void response.writeHead(307, { location: inHeader(target) }).end();
      case "/sse":
        return void response
          .writeHead(200, { "content-type": "text/event-stream" })
          .write(`event: endpoint\ndata: ${target}\n\n`);
      case "/asks/metadata":
        return unauthorized(response, inHeader(target));
      case "/asks/issuer":
      case "/asks/token":
        return unauthorized(response, `${origin}${pathname}/resource`);
      case "/asks/issuer/resource":
        return send(response, { resource: `${origin}/asks/issuer`, authorization_servers: [target] });
      case "/asks/token/resource":
        return send(response, { resource: `${origin}/asks/token`, authorization_servers: [origin] });
      case "/.well-known/oauth-authorization-server":
      case "/.well-known/openid-configuration":
        return send(response, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: target,
          jwks_uri: target,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
        });
      case "/agents/elsewhere.json":
        return send(response, cardAt(target));
      case "/agents/redirecting.json":
        return send(response, cardAt(`${origin}/redirect`));
      case "/agents/issuer.json":
        return send(response, {
          ...cardAt(`${origin}/none`),
          securitySchemes: { auth: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: target } } } } },
          securityRequirements: [{ schemes: { auth: { list: [] } } }],
        });
      default:
        return void response.writeHead(404).end();
    }
  }

  return accomplice;
}

/** The card of an agent that is called at an address. */
function cardAt(url: string): object {
  const supportedInterfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
  return { name: "An agent", description: "", version: "1", supportedInterfaces, capabilities: {}, skills: [] };
}

function unauthorized(response: ServerResponse, metadata: string): void {
  response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** A header holds no other characters; in an address these mean the same. */
function inHeader(target: string): string {
  return target.replaceAll(/[^\u0020-\u007e]+/g, encodeURIComponent);
}
