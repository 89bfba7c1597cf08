import { readFile } from "node:fs/promises";
import { fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import { type ClientCertificate, createEgress, type Egress } from "../../../guard/egress/egress.ts";
import { fillMembers } from "../../../guard/secrets/fill-members.ts";
import { secretsInAddress } from "../../../guard/secrets/looks-secret.ts";
import { createSecrets, type Secrets } from "../../../guard/secrets/secrets.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { OfferedTool, Source, SourceOptions } from "../../../register/source.port.ts";
import { createAuthorize, credentialProblem, refusedCalls } from "../credentials/authorize.ts";
import { createClientTokens } from "../credentials/client-tokens.ts";
import { literalSecret } from "../credentials/literal-secret.ts";
import {
  hasReference,
  type ImportCommand,
  isLocal,
  problemError,
  type Reach,
  type SettingProblem,
  type SourceSurroundings,
} from "../source-adapter.ts";
import { type SignatureParts, verifiedCard } from "./card-signature.ts";
import { type Agent, loadExtendedCard } from "./connection.ts";
import { loadCard, type LoadedCard, MAX_CARD_BYTES } from "./load-card.ts";
import type { AgentInterface } from "./messages.ts";
import { type Card, readCard, type Skill } from "./read-card.ts";
import { createAgentHandler } from "./run-task.ts";
import type { A2aAgentSettings } from "./settings.ts";

/** @internal */
export interface A2aParts {
  /** Defaults to an egress without rules. */
  readonly egress?: Egress;
  readonly clock?: Clock;
  /** Where secrets are read from. Defaults to the environment, files and the keychain. */
  readonly secrets?: Secrets;
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const REFRESH_S = 300;

/**
 * Offers the skills of another agent as tools. A call sends the agent a message and follows the task until it ends.
 *
 * @example
 * await arsenal.add(a2aSource({ name: "weather", url: "https://weather.example.com", credentials: { key: "env:WEATHER_KEY" } }));
 * @internal
 */
export function a2aSource(settings: A2aAgentSettings, parts: A2aParts = {}): Source {
  const { clock = systemClock, secrets = createSecrets() } = parts;
  const { name, url, endpoint, timeoutMs, maxConcurrent, refreshS = REFRESH_S } = settings;
  const origins = new Set([url, endpoint].flatMap((each) => URL.parse(each ?? "")?.origin ?? []));
  const isTrusted = (address: string): boolean => origins.has(URL.parse(address)?.origin ?? "");
  const outside = parts.egress ?? createEgress();
  const tokens = createClientTokens(outside, clock);
  const authorize = createAuthorize({ settings, secrets, tokens, locate });
  const working = new Set<Promise<void>>();
  let closing = new AbortController();
  let egress = outside;
  let loaded: LoadedCard | undefined;
  let isFresh = false;
  /** Keeps a repeated reading of the card from repeating the warning. */
  let warned: string | undefined;
  for (const secret of [url, endpoint ?? ""].flatMap(secretsInAddress)) secrets.redactor.add(secret);

  /** Resolves a token address. Throws if the client's secret would go to an origin that the operator did not configure. */
  function locate(tokenUrl: string): { readonly url: string; readonly trusted: boolean } {
    const whole = URL.parse(tokenUrl, url)?.href ?? tokenUrl;
    if (isTrusted(whole)) return { url: whole, trusted: true };
    const problem = `The card of ${name} asks to send the client's secret to another origin: ${tokenUrl}.`;
    const fix = `Set token_url: ${tokenUrl} in the credential, if you trust it.`;
    throw fixable("CONFIG_INVALID", problem, fix, { field: "credentials", beforeSend: true });
  }

  async function load({ signal, emit }: SourceOptions): Promise<void> {
    if (settings.tls !== undefined && egress === outside) egress = outside.fork(await readCertificate(settings));
    const headers = await fillMembers(settings.headers ?? {}, secrets, { scope: name, field: "headers", signal });
    const warn = (message: string): void => {
      if (message !== warned) emit?.("card-unverified", { ensemble: name, message });
      warned = message;
    };
    const reading = { egress, headers, signal, warn };
    loaded = await extended(await loadCard(settings, reading), reading);
    isFresh = true;
  }

  /** Returns the card for authenticated callers, or `open` if the agent has no such card. Both must be signed alike. */
  async function extended(open: LoadedCard, reading: SignatureParts): Promise<LoadedCard> {
    const { isExtended, security } = open.card;
    if (!isExtended) return open;
    const maxBytes = settings.maxCardBytes ?? MAX_CARD_BYTES;
    const written = await loadExtendedCard(agentOf(open), { security, maxBytes, signal: reading.signal });
    const card = written && readCard(await verifiedCard(written, settings, reading));
    return card === undefined ? open : { ...open, card };
  }

  function agentOf({ card, url: cardUrl }: LoadedCard): Agent {
    return {
      name,
      via: chooseInterface(card, cardUrl, settings, isTrusted),
      streaming: card.streaming,
      egress,
      authorize,
      tokens,
      redactor: secrets.redactor,
      clock,
      maxAnswerBytes: settings.maxAnswerBytes ?? MAX_ANSWER_BYTES,
      isTrusted,
      closing: closing.signal,
      inBackground(work) {
        working.add(work);
        void work.finally(() => working.delete(work));
      },
    };
  }

  function toTools(found: LoadedCard): readonly OfferedTool[] {
    const { card } = found;
    const agent = agentOf(found);
    const skills = card.skills.length === 0 ? [undefined] : card.skills;
    return skills.map((skill) => ({
      draft: toDraft(skill, card, agent.via, settings),
      handler: createAgentHandler(agent, {
        skill: skill?.id,
        security: skill?.security ?? card.security,
        isTool: skill?.tool !== undefined,
      }),
    }));
  }

  return {
    name,
    kind: "a2a",
    namespaces: [settings.namespace ?? name],
    capabilities: ["network_access"],
    guardsEgress: true,
    maxConcurrent,
    timeoutMs,
    connect(options) {
      if (closing.signal.aborted) closing = new AbortController();
      return load(options);
    },
    async list(options) {
      // The card was loaded when the source connected. Later listings load it again.
      if (!isFresh) await load(options);
      isFresh = false;
      return loaded === undefined ? [] : toTools(loaded);
    },
    instructions: () => loaded?.card.description,
    findings() {
      if (loaded === undefined) return [];
      const { skills, security } = loaded.card;
      const calls = skills.length === 0 ? [{ id: name, security }] : skills;
      return refusedCalls(
        calls.map(({ id, security: own = security }) => {
          return { title: id, error: credentialProblem(own, settings, "A call") };
        }),
      );
    },
    watch(changed) {
      if (refreshS === 0) return () => {};
      let cancel = (): void => {};
      const next = (): void => {
        cancel = clock.after(refreshS * 1000, () => (changed(), next()), { background: true });
      };
      next();
      return () => cancel();
    },
    async disconnect() {
      closing.abort();
      await Promise.all(working);
      if (egress !== outside) egress.close();
      if (parts.egress === undefined) outside.close();
    },
    again: () => a2aSource(settings, parts),
  };
}

async function readCertificate({ name, tls }: A2aAgentSettings): Promise<ClientCertificate> {
  const certificate: { cert?: string; key?: string; ca?: string } = {};
  // Files are read in order, so the error always names the first missing file.
  for (const field of ["cert", "key", "ca"] as const) {
    const file = tls?.[field];
    if (file === undefined) continue;
    certificate[field] = await readFile(file, "utf8").catch((cause: unknown) => {
      const problem = `The client certificate of ${name} cannot be read: ${file}.`;
      throw fixable("CONFIG_INVALID", problem, `Check tls.${field}.`, { field: `tls.${field}`, value: file, cause });
    });
  }
  return certificate;
}

/** Chooses the first supported interface of version 1.0, or else the first supported one. */
function chooseInterface(
  { interfaces }: Card,
  cardUrl: string,
  settings: A2aAgentSettings,
  isTrusted: (url: string) => boolean,
): AgentInterface {
  const { name, transport, endpoint } = settings;
  const usable = interfaces.filter(({ binding }) => transport === undefined || binding === transport.toUpperCase());
  const chosen = usable.find(({ version }) => version === "1.0") ?? usable[0];
  if (chosen === undefined) {
    const asked = transport === undefined ? "" : ` for ${transport}`;
    const fix =
      transport === undefined
        ? "Only agents with a JSONRPC or HTTP+JSON interface of A2A 1.0 or 0.3 can be used."
        : "Remove transport, or choose another.";
    const problem = `The card of ${name} has no supported interface${asked}.`;
    throw fixable("PROTOCOL_ERROR", problem, fix, { field: "transport" });
  }
  const address = endpoint ?? URL.parse(chosen.url, cardUrl)?.href ?? chosen.url;
  const hasSecrets = [settings.credentials, settings.headers, settings.tls].some((each) => each !== undefined);
  if (hasSecrets && !isTrusted(address)) {
    const problem = `The card of ${name} names ${address} as the address for calls. That is another origin than ${settings.url}, so the credentials were not sent.`;
    const fix = `Set endpoint: ${address} if you trust it.`;
    throw fixable("CONFIG_INVALID", problem, fix, { field: "endpoint", value: address });
  }
  return { ...chosen, url: address };
}

const PARAMETERS = {
  type: "object",
  properties: {
    message: { type: "string", description: "What the agent is asked to do, in words." },
    data: { type: "object", description: "Structured input for the agent, in addition to the message." },
    taskId: { type: "string", description: "Continues this task, after its result had the state input-required." },
    contextId: { type: "string", description: "Continues this conversation; an earlier result has its id." },
  },
  required: ["message"],
  additionalProperties: false,
} as const;

function toDraft(
  skill: Skill | undefined,
  card: Card,
  via: AgentInterface,
  { name, namespace = name }: A2aAgentSettings,
): OfferedTool["draft"] {
  const [about = ""] = /^.{1,200}?(?:[.!?](?=\s)|$)/s.exec(card.description.trim()) ?? [];
  const byAgent = `By the agent ${card.name}${about === "" ? "." : `: ${about}`}`;
  return {
    name: skill === undefined ? `a2a_${name}` : `a2a_${name}_${skill.id}`,
    title: skill?.name ?? card.name,
    description: skill === undefined || skill.description === "" ? byAgent : `${skill.description}\n\n${byAgent}`,
    namespace,
    source: "a2a",
    sourceUri: via.url,
    tags: skill?.tags ?? [],
    examples: skill?.examples ?? [],
    parameters: skill?.tool?.parameters ?? PARAMETERS,
    annotations: { openWorld: true, ...skill?.tool?.annotations },
    // The pin covers these values, so a changed destination of calls and credentials is noticed.
    sourceMeta: { a2a: { endpoint: via.url, security: skill?.security ?? card.security } },
  };
}

export function create(settings: A2aAgentSettings, { egress, clock, secrets }: SourceSurroundings): Source {
  const found = settingsProblem(settings);
  if (found !== undefined) throw problemError(settings.name, found);
  return a2aSource(settings, { egress, clock, secrets });
}

function settingsProblem(settings: A2aAgentSettings): SettingProblem | undefined {
  for (const field of ["url", "endpoint"] as const) {
    const { [field]: value } = settings;
    if (value === undefined || /^https?:$/.test(URL.parse(value)?.protocol ?? "")) continue;
    const message = `is ${showValue(value)}, which is not an address of HTTP`;
    return { field, value, message, fix: "Write an address that starts with http:// or https://." };
  }
  return literalSecret(settings);
}

export function reach({ url, endpoint, tls, trustedKeys, credentials, headers }: A2aAgentSettings): Reach {
  const keys = trustedKeys === undefined || !isLocal(trustedKeys) ? [] : [trustedKeys];
  return {
    addresses: [url, ...(endpoint === undefined ? [] : [endpoint])],
    reads: [...Object.values(tls ?? {}), ...keys],
    secrets: hasReference([credentials, headers]),
  };
}

const importAgent: ImportCommand<A2aAgentSettings> = {
  summary: "From an A2A agent: its address, or a configured name",
  positionals: ["SOURCE"],
  examples: ["import a2a https://weather.example.com"],
  async open([place = ""], { name, configured }) {
    const url = /^https?:/i.test(place) ? URL.parse(place) : null;
    const found = url === null ? await configured(place) : { name: name ?? url.hostname, url: place };
    if (found === undefined) {
      const message = `"${place}" is neither an address nor a configured agent.`;
      const fix = "Give the agent's address, such as https://HOST, or a name under a2a.agents.";
      throw fixable("INPUT_INVALID", message, fix, { field: "SOURCE", value: place });
    }
    return [{ source: a2aSource(name === undefined ? found : { ...found, namespace: name }), skipped: () => [] }];
  },
};

export { importAgent as import, settingsProblem as problem };
export { config } from "./settings.ts";
