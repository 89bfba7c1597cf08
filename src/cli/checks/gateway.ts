import { statSync } from "node:fs";
import { dirname } from "node:path";
import { stateFile } from "../../config/load/chosen-adapters.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { count } from "../../errors/show-value.ts";
import { createProxyRoutes, showProxy } from "../../guard/egress/proxy.ts";
import type { Identity } from "../../guard/identity.port.ts";
import { createSecrets } from "../../guard/secrets/secrets.ts";
import type { TlsFiles } from "../../serve/http/listen-options.ts";
import { configuredIdentity, identityInState } from "../../wire/identity.ts";
import { configuredEgress, createSurroundings } from "../../wire/surroundings.ts";
import type { Configured } from "../arsenal/open-arsenal.ts";
import type { Terminal } from "../command.ts";
import { failed, failures, type Finding, findingsOf, ok, warning } from "./finding.ts";

/** The configuration and the address of a gateway before it starts. */
export type GatewayPlan = ReturnType<typeof planGateway>;

/** Plans a gateway from its configuration. `given` overrides the section `server`. */
export function planGateway(
  configured: Configured,
  terminal: Terminal,
  given: {
    readonly host?: string | undefined;
    readonly port?: number | undefined;
    readonly tls?: TlsFiles | undefined;
    /** False for a gateway over stdio. */
    readonly listens?: boolean;
    /** False if another gateway may use the ports. */
    readonly needsPorts?: boolean;
  } = {},
) {
  const { config } = configured;
  const { server } = config;
  const { environment } = terminal;
  const { host = server.host, port = server.port, tls = server.tls, listens = true, needsPorts = listens } = given;
  const { TOOLARSENAL_TOKEN: token } = environment;
  let identity: Promise<Identity | ReturnType<typeof identityInState>> | undefined;

  /** Creates the identity of callers once. Returns a function if it needs the shared state. */
  async function createIdentity() {
    const proving = { token, egress: configuredEgress(config, environment), secrets: createSecrets({ environment }) };
    return identityInState(server, proving) ?? configuredIdentity(server, proving);
  }

  return {
    configured,
    terminal,
    listens,
    needsPorts,
    listening: { host, port, tls, publicUrl: server.publicUrl },
    identity: () => (identity ??= createIdentity()),
  };
}

/** Checks the settings of outgoing requests: proxy, certificate authorities and certificate pins. */
export function checkEgress({ configured: { config }, terminal: { environment } }: GatewayPlan): readonly Finding[] {
  configuredEgress(config, environment).close();
  return [];
}

/** Reports the route of outgoing requests, unless they use neither a proxy nor other certificate authorities than Node's. */
export function checkRoute({ configured: { config }, terminal: { environment } }: GatewayPlan): readonly Finding[] {
  const { egress } = config;
  const routeTo = createProxyRoutes(egress, environment);
  const ways = ["https:", "http:"].flatMap((scheme) => {
    try {
      const route = routeTo(new URL(`${scheme}//toolarsenal.invalid`));
      return route === undefined ? [] : [ok("network", `${scheme}// through ${showProxy(route)} (${route.from})`)];
    } catch (error) {
      return failures("network", error);
    }
  });
  const { caFile } = egress;
  const { NODE_EXTRA_CA_CERTS: extra } = environment;
  const files = [caFile && `${caFile} (egress.ca_file)`, extra && `${extra} (NODE_EXTRA_CA_CERTS)`].filter(Boolean);
  return [
    ...ways,
    ...(files.length === 0 ? [] : [ok("network", `also trusts the authorities in ${files.join(" and ")}`)]),
  ];
}

/** Runs the check of each configured adapter that has one: stores, models, collectors. */
export async function checkParts({ configured: { config }, terminal }: GatewayPlan): Promise<readonly Finding[]> {
  const { checkAdapters } = await import("../../config/start/check-adapters.ts");
  const surroundings = createSurroundings(config, terminal);
  try {
    const reports = await checkAdapters(config, surroundings);
    return reports.flatMap(({ part, message = "", error }) =>
      error === undefined ? [ok(part, message)] : failures(part, error),
    );
  } finally {
    surroundings.egress.close();
  }
}

/** Checks the tokens, keys and issuers that authenticate callers. */
export async function checkIdentity({ identity }: GatewayPlan): Promise<readonly Finding[]> {
  await identity();
  return [];
}

/** Checks the address, its visibility to other machines, and the ports. */
export async function checkListening(plan: GatewayPlan): Promise<readonly Finding[]> {
  const { listening, identity, needsPorts, configured, listens } = plan;
  const { host, port, publicUrl } = listening;
  if (!listens) return [];
  const { checkedAddress, checkPorts } = await import("../../serve/http/listening.ts");
  const { extraPorts } = await import("../../serve/serve-arsenal.ts");
  const own = await identity().catch(() => UNUSABLE);
  checkedAddress({ host, ...(publicUrl && { publicUrl }), ...(own && { identity: await inNoState(own) }) });
  const { a2a, metrics } = extraPorts(configured.config, port);
  const ports = [
    { port, setting: "server.port" },
    ...(a2a === undefined ? [] : [{ port: a2a, setting: "a2a.a2a_port" }]),
    ...(metrics === undefined ? [] : [{ port: metrics, setting: "telemetry.prometheus_port" }]),
  ];
  if (needsPorts) await checkPorts(host, ports);
  const place = publicUrl === undefined ? "" : `, called ${publicUrl}`;
  return [
    ok(
      "server",
      `${needsPorts ? "can listen" : "listens"} on ${host}, port ${ports.map((each) => each.port).join(", ")}${place}`,
    ),
    ...checkNames(configured.config.server),
  ];
}

/** Reports names and origins that no request can have, so callers who use them are refused. */
function checkNames({ allowedHosts, allowedOrigins }: ResolvedConfig["server"]): readonly Finding[] {
  const isHost = (name: string): boolean => URL.parse(`http://${name}`)?.host === name.toLowerCase();
  const isOrigin = (name: string): boolean => URL.parse(name)?.origin === name.toLowerCase().replace(/\/$/, "");
  return [
    ...allowedHosts
      .filter((name) => !isHost(name))
      .map((name) =>
        failed("server", `server.allowed_hosts has ${name}, which is not a host`, "Write tools.example.com."),
      ),
    ...allowedOrigins
      .filter((name) => !isOrigin(name))
      .map((name) =>
        failed(
          "server",
          `server.allowed_origins has ${name}, which is not an origin`,
          "Write https://app.example.com.",
        ),
      ),
  ];
}

/** Replaces an identity that cannot be created, because that problem has its own finding. */
const UNUSABLE: Identity = { name: "unusable", challenge: "Bearer", authenticate: async () => undefined };

/** Creates an identity that works without the shared state in which its keys are. */
async function inNoState(
  identity: Exclude<Awaited<ReturnType<GatewayPlan["identity"]>>, undefined>,
): Promise<Identity> {
  if (typeof identity !== "function") return identity;
  const { memoryState } = await import("../../adapters/state/memory.ts");
  const state = memoryState();
  try {
    return await identity(state);
  } finally {
    await state.close();
  }
}

const DAY_MS = 86_400_000;

/** The number of days before expiry from which a certificate should be renewed. */
const RENEW_DAYS = 21;

/** Checks that the files are usable and match, and reports when the certificate expires. Throws `CONFIG_INVALID` if they are unusable. */
export async function checkCertificate({ cert, key }: TlsFiles, now: number): Promise<Finding> {
  const { readCertificate } = await import("../../serve/http/tls.ts");
  const { validFromDate, validToDate } = (await readCertificate({ cert, key })).certificate;
  const day = (date: Date): string => date.toISOString().slice(0, 10);
  const days = Math.floor((validToDate.getTime() - now) / DAY_MS);
  const fix = `Renew ${cert}. A running gateway notices the new file.`;
  if (now > validToDate.getTime()) return failed("tls", `${cert} expired on ${day(validToDate)}`, fix);
  const clock = "Check the clock of this machine, or use another certificate.";
  if (now < validFromDate.getTime()) return failed("tls", `${cert} is not valid before ${day(validFromDate)}`, clock);
  const until = `${cert} is valid until ${day(validToDate)}`;
  return days >= RENEW_DAYS ? ok("tls", until) : warning("tls", `${until}, for ${count(days, "day")}`, fix);
}

export async function checkTls({ listening: { tls } }: GatewayPlan): Promise<readonly Finding[]> {
  return tls === undefined ? [] : findingsOf("tls", async () => [await checkCertificate(tls, Date.now())]);
}

/** Reports secret files that others can read, and folders of records that others can change. */
export function checkPermissions({ configured, listening: { tls } }: GatewayPlan): readonly Finding[] {
  if (process.platform === "win32") return [];
  const { config, envFiles } = configured;
  const kept = [stateFile(config.state), config.audit.file].filter((file) => file !== undefined);
  const secret = [...(tls === undefined ? [] : [tls.key]), ...envFiles, ...kept];
  const open = secret.filter((file) => (modeOf(file) & 0o077) !== 0);
  // In a sticky folder, such as /tmp, other users can add files but not replace these.
  const shared = [...new Set(kept.map(dirname))].filter((folder) => (modeOf(folder) & 0o1002) === 0o002);
  return [
    ...open.map((file) => warning("permissions", `${file} can be read by other users`, `Run: chmod 600 ${file}`)),
    ...shared.map((folder) =>
      warning("permissions", `${folder} can be changed by other users`, `Run: chmod o-w ${folder}`),
    ),
  ];
}

/** Returns the permissions of a file or folder; 0 if it does not exist. */
function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
}
