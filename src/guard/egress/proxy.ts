import type { Socket } from "node:net";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { hostOf, type ProxySettings, withoutBrackets } from "./check-url.ts";

export interface ProxyRoute {
  readonly url: URL;
  /** The setting or variable that configured the proxy. */
  readonly from: string;
  /** The value of `proxy-authorization`; undefined if the proxy has no user name. */
  readonly authorization: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns a function that finds the proxy for an address, or undefined for a direct connection. Throws CONFIG_INVALID if `proxy` is invalid. */
export function createProxyRoutes(
  { proxy, noProxy }: ProxySettings,
  environment: Environment,
): (url: URL) => ProxyRoute | undefined {
  if (proxy === "none") return () => undefined;
  const own = proxy === undefined ? undefined : readProxy(proxy, "egress.proxy");
  const named = new Map<string, ProxyRoute | undefined>();
  let isDirect: ReturnType<typeof createBypass> | undefined;

  function proxyFor(scheme: "https_proxy" | "http_proxy"): ProxyRoute | undefined {
    if (own !== undefined || named.has(scheme)) return own ?? named.get(scheme);
    const found = variable(environment, scheme) ?? variable(environment, "all_proxy");
    const route = found && readProxy(found.value, found.name);
    named.set(scheme, route);
    return route;
  }

  return (url) => {
    const route = proxyFor(url.protocol === "https:" ? "https_proxy" : "http_proxy");
    if (route === undefined) return undefined;
    isDirect ??= createBypass(
      noProxy ?? (variable(environment, "no_proxy")?.value ?? "").split(/[\s,]+/).filter(Boolean),
    );
    return isDirect(url) ? undefined : route;
  };
}

/** Formats the address of a proxy without its password. */
export function showProxy({ url }: ProxyRoute): string {
  return `${url.protocol}//${url.host}`;
}

/** Reads a variable whose name may be upper or lower case. The lower-case name is older and takes precedence. */
function variable(
  environment: Environment,
  name: string,
): { readonly name: string; readonly value: string } | undefined {
  for (const spelling of [name, name.toUpperCase()]) {
    const value = environment[spelling]?.trim();
    if (value !== undefined && value !== "") return { name: spelling, value };
  }
  return undefined;
}

function readProxy(given: string, from: string): ProxyRoute {
  const url = URL.parse(given.includes("://") ? given : `http://${given}`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "") {
    const fix = "Write it as http://host:port, or set egress.proxy to none.";
    // The address may contain a password.
    throw fixable("CONFIG_INVALID", `${from} is not the address of an HTTP proxy.`, fix, { field: from });
  }
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const authorization = user === "" ? undefined : `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  return { url, from, authorization };
}

/** Returns a function that checks whether an address bypasses the proxy. Addresses of this machine always do, because a proxy cannot reach them. */
function createBypass(entries: readonly string[]): (url: URL) => boolean {
  const { BlockList, isIP } = process.getBuiltinModule("node:net");
  const networks = new BlockList();
  networks.addSubnet("127.0.0.0", 8, "ipv4");
  networks.addAddress("::1", "ipv6");
  const domains: { readonly domain: string; readonly port: string | undefined }[] = [
    { domain: "localhost", port: undefined },
  ];
  for (const entry of entries) {
    const [network = "", bits] = entry.split("/");
    const family = isIP(network) === 6 ? "ipv6" : "ipv4";
    if (isIP(network) !== 0 && bits !== undefined && Number(bits) >= 0)
      networks.addSubnet(network, Number(bits), family);
    else if (isIP(withoutBrackets(entry)) !== 0)
      networks.addAddress(withoutBrackets(entry), isIP(withoutBrackets(entry)) === 6 ? "ipv6" : "ipv4");
    else {
      const [, domain = "", port] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      domains.push({ domain, port });
    }
  }
  return (url) => {
    const host = hostOf(url);
    const family = isIP(host);
    if (family !== 0 && networks.check(host, family === 6 ? "ipv6" : "ipv4")) return true;
    const ownPort = url.port || (url.protocol === "https:" ? "443" : "80");
    return domains.some(
      ({ domain, port }) =>
        (domain === "*" || host === domain || host.endsWith(`.${domain}`)) && (port === undefined || port === ownPort),
    );
  };
}

/** Opens a tunnel through a proxy to an address. Rejects with TRANSPORT_FAILED before anything is sent to the address. */
export function openTunnel(
  route: ProxyRoute,
  url: URL,
  trusted: { readonly ca?: string[] | undefined },
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const target = `${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`;
  const { request } = process.getBuiltinModule(route.url.protocol === "https:" ? "node:https" : "node:http");
  const headers = { host: target, ...(route.authorization && { "proxy-authorization": route.authorization }) };
  const asking = request({ ...addressOf(route), method: "CONNECT", path: target, headers, agent: false, ...trusted });
  asking.once("connect", ({ statusCode }, socket: Socket) => {
    if (statusCode === 200) return resolve(socket);
    socket.destroy();
    reject(refusedByProxy(route, url, statusCode));
  });
  // A web server instead of a proxy answers without emitting `connect`.
  asking.once("response", (answer) => {
    answer.destroy();
    reject(refusedByProxy(route, url, answer.statusCode));
  });
  asking.once("error", (cause) => reject(proxyUnreachable(route, cause)));
  asking.end();
  return promise;
}

/** The host and port of a proxy, for Node's sockets. */
export function addressOf({ url }: ProxyRoute): { readonly host: string; readonly port: number } {
  return { host: withoutBrackets(url.hostname), port: Number(url.port) || (url.protocol === "https:" ? 443 : 80) };
}

function refusedByProxy(route: ProxyRoute, url: URL, status: number | undefined): ArsenalError {
  const problem = `The proxy ${showProxy(route)} (${route.from}) refused a connection to ${url.host} with status ${status}.`;
  const fix =
    status === 407
      ? `Name its user and password in ${route.from}: http://user:password@host:port.`
      : "Ask whoever runs the proxy, or list the host in NO_PROXY or egress.no_proxy.";
  return fixable("TRANSPORT_FAILED", problem, fix, { field: "url", value: url.host, beforeSend: true });
}

export function proxyUnreachable(route: ProxyRoute, cause: Error): ArsenalError {
  const problem = `The proxy ${showProxy(route)} (${route.from}) cannot be reached: ${cause.message}.`;
  const fix = `Check ${route.from}, or list hosts that need no proxy in NO_PROXY or egress.no_proxy.`;
  return fixable("TRANSPORT_FAILED", problem, fix, { field: route.from, cause, beforeSend: true });
}
