import type { Agent, ClientRequest, RequestOptions } from "node:http";
import type { LookupFunction, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectionOptions, PeerCertificate } from "node:tls";
import { type ClientCertificate, hostOf, type Resolve, withoutBrackets } from "./check-url.ts";
import { type ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { nodeCrypto, sha256 } from "../../base/crypto.ts";
import { domainToASCII } from "node:url";
import { addressOf, openTunnel, type ProxyRoute, proxyUnreachable } from "./proxy.ts";

/** Idle connections are closed after this time, before the server closes them. A server could otherwise close one during a request. */
const IDLE_MS = 4000;

/** Connections for other protocols may be silent. After this time, TCP keep-alive checks that the peer is alive. */
const SILENT_MS = 60_000;

/** Node's network modules, loaded with the first connection: they take longer to load than most of this package. */
const network = () => (modules ??= loadNetwork());
let modules: ReturnType<typeof loadNetwork> | undefined;

function loadNetwork() {
  return {
    http: process.getBuiltinModule("node:http"),
    https: process.getBuiltinModule("node:https"),
    net: process.getBuiltinModule("node:net"),
    tls: process.getBuiltinModule("node:tls"),
  };
}

interface SentRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the IP address of the name may be private. */
  readonly allowPrivate: boolean;
}

/** Creates a pool of checked, reusable connections. Opens none yet. */
export function createConnections(parts: {
  readonly resolve: Resolve;
  readonly isPublic: (address: string) => boolean;
  readonly pins: ReturnType<typeof readPins>;
  readonly certificate?: ClientCertificate | undefined;
  /** Trusted certificate authorities, PEM, in addition to those that Node trusts. */
  readonly ca?: string | undefined;
  /** The proxy for an address; undefined if it is reached directly. */
  readonly routeTo: (url: URL) => ProxyRoute | undefined;
}) {
  const { resolve, isPublic, pins, certificate, routeTo } = parts;
  const others = new Set<Duplex>();
  // A reused connection is not checked again, so connections to private addresses have their own pool.
  let outside: ReturnType<typeof createWays> | undefined;
  let inside: typeof outside;
  const waysTo = (allowPrivate: boolean) =>
    allowPrivate ? (inside ??= createWays(() => true)) : (outside ??= createWays(isPublic));

  /** Creates the agents for connections that may reach the same addresses. */
  function createWays(mayReach: (address: string) => boolean) {
    const { http, https } = network();
    const plain = { lookup: checkedLookup(resolve, mayReach) };
    const { checkServerIdentity } = pins;
    const trusted = trustedAuthorities(parts.ca);
    const secure = { ...plain, ...trusted, ...certificate, rejectUnauthorized: true, checkServerIdentity };
    const kept = { keepAlive: true, timeout: IDLE_MS };
    return {
      plain,
      secure,
      trusted,
      /** Agents for connections through a proxy, keyed by the protocol of the target. */
      throughProxy: new Map<string, Agent>(),
      "http:": new http.Agent({ ...plain, ...kept }),
      // Node does not verify the certificate of a resumed TLS session, so sessions are not resumed.
      "https:": new https.Agent({ ...secure, ...kept, maxCachedSessions: 0 }),
    };
  }

  /**
   * Refuses a name that resolves to a forbidden address on this machine. If this machine cannot resolve the name, the proxy must: in many networks
   * only the proxy resolves public names.
   */
  function checkName(url: URL, { plain }: ReturnType<typeof createWays>): Promise<void> {
    const host = withoutBrackets(url.hostname);
    if (network().net.isIP(host) !== 0) return Promise.resolve();
    return new Promise((passed, reject) => {
      plain.lookup(host, { all: true }, (error) => (isArsenalError(error) ? reject(error) : passed()));
    });
  }

  function beginThrough(route: ProxyRoute, url: URL, { method, headers, allowPrivate }: SentRequest): ClientRequest {
    const isTunnel = url.protocol === "https:";
    const proof = isTunnel ? undefined : route.authorization;
    return network().http.request({
      ...targetOf(url),
      method,
      protocol: url.protocol,
      path: (isTunnel ? "" : url.origin) + url.pathname + url.search,
      headers: { host: url.host, ...headers, ...(proof !== undefined && { "proxy-authorization": proof }) },
      agent: agentThrough(route, url.protocol, waysTo(allowPrivate)),
    });
  }

  /** An agent for connections through a proxy. Each connection has one target, which is checked when the connection opens. */
  function agentThrough(route: ProxyRoute, protocol: string, ways: ReturnType<typeof createWays>): Agent {
    const known = ways.throughProxy.get(protocol);
    if (known !== undefined) return known;
    const { http, https } = network();
    const agent = new (protocol === "https:" ? https : http).Agent({ keepAlive: true, timeout: IDLE_MS });
    agent.createConnection = ({ host, port }, created) => {
      const url = new URL(`${protocol}//${network().net.isIPv6(host ?? "") ? `[${host}]` : host}:${port}`);
      openThrough(route, url, ways).then(
        (socket) => created?.(null, socket),
        (error: Error) => created?.(error, undefined as never),
      );
      return undefined;
    };
    ways.throughProxy.set(protocol, agent);
    return agent;
  }

  async function openThrough(route: ProxyRoute, url: URL, ways: ReturnType<typeof createWays>): Promise<Socket> {
    const { net, tls } = network();
    await checkName(url, ways);
    if (url.protocol === "https:") {
      const socket = await openTunnel(route, url, ways.trusted);
      return tls.connect({ ...ways.secure, socket, host: hostOf(url), servername: targetOf(url).servername });
    }
    const proxy = addressOf(route);
    const socket = route.url.protocol === "https:" ? tls.connect({ ...proxy, ...ways.trusted }) : net.connect(proxy);
    await process
      .getBuiltinModule("node:events")
      .once(socket, route.url.protocol === "https:" ? "secureConnect" : "connect")
      .catch((cause: Error) => {
        throw proxyUnreachable(route, cause);
      });
    return socket;
  }

  function connectDirectly(url: URL, allowPrivate: boolean): Socket {
    const { net, tls } = network();
    const { plain, secure } = waysTo(allowPrivate);
    const target = targetOf(url);
    const socket =
      url.protocol === "https:" ? tls.connect({ ...target, ...secure }) : net.connect({ ...target, ...plain });
    return socket.setKeepAlive(true, SILENT_MS);
  }

  /** Opens a connection through a proxy, for another protocol. Returns immediately; data flows once the tunnel is open. */
  function connectThrough(route: ProxyRoute, url: URL, allowPrivate: boolean): Duplex {
    const ways = waysTo(allowPrivate);
    const { duplexPair, pipeline } = process.getBuiltinModule("node:stream");
    const [near, far] = duplexPair();
    checkName(url, ways)
      .then(() => openTunnel(route, url, ways.trusted))
      .then(
        (socket) => pipeline(far, socket, far, () => near.destroy()),
        (error: Error) => near.destroy(error),
      );
    if (url.protocol !== "https:") return near;
    const { servername } = targetOf(url);
    const secured = network().tls.connect({ ...ways.secure, socket: near, servername });
    near.once("error", (error) => secured.destroy(error));
    return secured;
  }

  return {
    /** Starts a request to a checked address. The caller sends the body. */
    begin(url: URL, sent: SentRequest): ClientRequest {
      const { method, headers, allowPrivate } = sent;
      const route = routeTo(url);
      if (route !== undefined) return beginThrough(route, url, sent);
      const options: RequestOptions & ConnectionOptions = {
        ...targetOf(url),
        method,
        protocol: url.protocol,
        path: url.pathname + url.search,
        headers,
        agent: waysTo(allowPrivate)[url.protocol as "http:" | "https:"],
      };
      return network().http.request(options);
    },
    /** Opens a connection to a checked address, for another protocol. */
    connect(url: URL, allowPrivate: boolean): Duplex {
      const route = routeTo(url);
      const socket = route ? connectThrough(route, url, allowPrivate) : connectDirectly(url, allowPrivate);
      others.add(socket);
      socket.once("close", () => others.delete(socket));
      return socket;
    },
    /** Closes idle connections, and those for another protocol. */
    close(): void {
      for (const ways of [outside, inside]) {
        ways?.["http:"].destroy();
        ways?.["https:"].destroy();
        for (const agent of ways?.throughProxy.values() ?? []) agent.destroy();
      }
      for (const socket of others) socket.destroy();
    },
  };
}

/** Returns Node's certificate authorities together with the configured ones; an empty object if none are configured. */
function trustedAuthorities(ca: string | undefined): { readonly ca?: string[] } {
  return ca === undefined ? {} : { ca: [...network().tls.getCACertificates("default"), ca] };
}

/** The target of a connection, and the host name for its certificate. The host comes from the URL, even if a header names another one. */
function targetOf(url: URL): { readonly host: string; readonly port: number; readonly servername: string } {
  const host = withoutBrackets(url.hostname);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  return { host, port, servername: network().net.isIP(host) === 0 ? hostOf(url) : "" };
}

export const resolveAll: Resolve = (host, callback) => {
  process.getBuiltinModule("node:dns").lookup(host, { all: true }, (error, addresses) => callback(error, addresses));
};

/** Resolves a name, and refuses it if any of its addresses is forbidden. The connection uses the returned addresses. */
export function checkedLookup(resolve: Resolve, mayReach: (address: string) => boolean): LookupFunction {
  return (host, options, callback) => {
    resolve(host, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const [first] = addresses;
      const bad = addresses.find(({ address }) => !mayReach(address));
      if (bad) {
        const fix = "Use a name that resolves to public addresses.";
        const problem = `A request to ${host} is refused: it resolves to ${bad.address}, which is this machine or a private network.`;
        return callback(fixable("PERMISSION_DENIED", problem, fix, { field: "url", value: host }), "", 0);
      }
      if (first === undefined) return callback(new Error(`${host} has no address`), "", 0);
      if (options.all) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

/** `sha256/` and the 32 bytes of a hash in base64. */
const PIN = /^sha256\/[A-Za-z0-9+/]{43}=$/;

/** Parses pins: host names, each with `sha256/BASE64` hashes of public keys, separated by blanks. One must match. Throws CONFIG_INVALID. */
export function readPins(written: Readonly<Record<string, string>> = {}) {
  const pins = new Map(Object.entries(written).map(([host, text]) => [toHost(host), toPins(host, text)]));
  return {
    isPinned: (host: string): boolean => pins.has(host),
    /** Returns an error if a server's certificate is invalid or its key is not pinned. TLS calls this after it verifies the certificate chain. */
    checkServerIdentity(name: string, certificate: PeerCertificate): Error | undefined {
      const wrong = process.getBuiltinModule("node:tls").checkServerIdentity(name, certificate);
      const allowed = wrong === undefined ? pins.get(toHost(name)) : undefined;
      if (allowed === undefined) return wrong;
      const shown = pinOf(certificate);
      return allowed.includes(shown) ? undefined : mismatch(name, shown);
    },
  };
}

function toPins(host: string, text: string): readonly string[] {
  const pins = text.split(/\s/).filter((pin) => pin !== "");
  const odd = pins.find((pin) => !PIN.test(pin));
  if (pins.length > 0 && odd === undefined && toHost(host) !== "") return pins;
  const field = `security.certificate_pins.${host}`;
  const fix = "Write a host's name and sha256/ with the base64 SHA-256 hash of its public key, 44 characters.";
  const problem = `${field} is not a certificate pin: ${JSON.stringify(odd ?? text)}.`;
  throw fixable("CONFIG_INVALID", problem, fix, { field, value: odd ?? text });
}

/** Returns an empty string if the text is not a host name: a pin for an address, a port or a pattern would never match. */
function toHost(host: string): string {
  return /[/:*\s]/.test(host) ? "" : domainToASCII(host).replace(/\.$/, "").toLowerCase();
}

function pinOf({ raw }: PeerCertificate): string {
  const key = new (nodeCrypto().X509Certificate)(raw).publicKey.export({ type: "spki", format: "der" });
  return `sha256/${sha256(key, "base64")}`;
}

function mismatch(host: string, shown: string): ArsenalError {
  const fix = `If the server's key was changed on purpose, add ${shown} to security.certificate_pins; otherwise the server may be an impostor.`;
  const problem = `The request to ${host} was not sent: its certificate has the key ${shown}, which is not pinned.`;
  return fixable("TRANSPORT_FAILED", problem, fix, { field: "url", value: host, beforeSend: true });
}
