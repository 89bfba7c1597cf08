import http, { type ClientRequest, type RequestOptions } from "node:http";
import https from "node:https";
import net, { isIP, type LookupFunction, type Socket } from "node:net";
import tls from "node:tls";
import { type CertificatePins } from "./certificate-pins.ts";
import { hostOf } from "./check-url.ts";
import { checkedLookup, type Resolve } from "./checked-lookup.ts";

/** What connections are made by. */
export interface ConnectionParts {
  readonly resolve: Resolve;
  readonly isPublic: (address: string) => boolean;
  readonly pins: CertificatePins;
}

/** One request as it is sent. */
export interface SentRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the address that the name resolves to may be private. */
  readonly allowPrivate: boolean;
}

/** Connections that were checked when they were made, and are used again. */
export interface Connections {
  /** Begins a request to an address that was checked. Its body is the caller's to send. */
  begin(url: URL, sent: SentRequest): ClientRequest;
  /** Opens a connection to an address that was checked, for another protocol. */
  connect(url: URL, allowPrivate: boolean): Socket;
  /** Closes idle connections, and those for another protocol. */
  close(): void;
}

/** A kept connection is closed by us after this time without a request, before most servers close it, perhaps while one is on its way. */
const IDLE_MS = 4000;

/** A connection for another protocol may be silent; after this time the system asks whether the other side is still there. */
const SILENT_MS = 60_000;

/** No connection yet. */
export function createConnections({ resolve, isPublic, pins }: ConnectionParts): Connections {
  const others = new Set<Socket>();
  // A kept connection was checked when it was made; those to private addresses are kept apart from the others.
  const outside = createWays(isPublic);
  const inside = createWays(() => true);

  function createWays(mayReach: (address: string) => boolean): Ways {
    const plain = { lookup: checkedLookup(resolve, mayReach) };
    const secure = { ...plain, rejectUnauthorized: true, checkServerIdentity: pins.checkServerIdentity };
    const kept = { keepAlive: true, timeout: IDLE_MS };
    return {
      plain,
      secure,
      "http:": new http.Agent({ ...plain, ...kept }),
      // TLS does not look at the certificate again where a session is resumed, so none is.
      "https:": new https.Agent({ ...secure, ...kept, maxCachedSessions: 0 }),
    };
  }

  return {
    begin(url, { method, headers, allowPrivate }) {
      const options: RequestOptions & tls.ConnectionOptions = {
        ...targetOf(url),
        method,
        protocol: url.protocol,
        path: url.pathname + url.search,
        headers: { ...headers },
        agent: (allowPrivate ? inside : outside)[url.protocol as Scheme],
      };
      return http.request(options);
    },
    connect(url, allowPrivate) {
      const { plain, secure } = allowPrivate ? inside : outside;
      const target = targetOf(url);
      const socket =
        url.protocol === "https:" ? tls.connect({ ...target, ...secure }) : net.connect({ ...target, ...plain });
      socket.setKeepAlive(true, SILENT_MS);
      others.add(socket);
      socket.once("close", () => others.delete(socket));
      return socket;
    },
    close() {
      for (const ways of [outside, inside]) {
        ways["http:"].destroy();
        ways["https:"].destroy();
      }
      for (const socket of others) socket.destroy();
    },
  };
}

type Scheme = "http:" | "https:";

/** How connections are made that may lead to the same addresses. */
interface Ways extends Readonly<Record<Scheme, http.Agent>> {
  readonly plain: { readonly lookup: LookupFunction };
  readonly secure: tls.ConnectionOptions;
}

/** Where a connection leads, and whose certificate is looked for there: that of the address, also where a header names another host. */
function targetOf(url: URL): { readonly host: string; readonly port: number; readonly servername: string } {
  const host = url.hostname.replace(/[[\]]/g, "");
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  return { host, port, servername: isIP(host) === 0 ? hostOf(url) : "" };
}
