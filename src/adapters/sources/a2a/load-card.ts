import { buffer } from "node:stream/consumers";
import { ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import { parseObject } from "../parse-object.ts";
import { type SignatureParts, verifiedCard } from "./card-signature.ts";
import { type Card, readCard } from "./read-card.ts";
import type { A2aAgentSettings } from "./settings.ts";

export interface LoadedCard {
  readonly url: string;
  readonly card: Card;
}

interface LoadCardParts extends SignatureParts {
  readonly headers: Readonly<Record<string, string>>;
}

/** In bytes. */
export const MAX_CARD_BYTES = 1024 * 1024;

/** HTTP statuses that mean there is no card at this address. */
const ABSENT: ReadonlySet<number> = new Set([404, 405, 410]);

/** Fetches the card of an agent, from the configured address or from its well-known addresses. Throws if there is no card. */
export async function loadCard(settings: A2aAgentSettings, parts: LoadCardParts): Promise<LoadedCard> {
  const { url, name } = settings;
  const places = placesOf(url);
  if (places === undefined) throw unusable(name, `${JSON.stringify(url)} is not an address`, "Write https://HOST.");
  const { username, password } = new URL(url);
  if (username !== "" || password !== "")
    throw unusable(name, "its url carries a user name or password", "Set the agent's credentials instead.");
  for (const place of places) {
    const text = await fetchCard(place, settings, parts);
    if (text === undefined) continue;
    const written = parseObject(text);
    if (written === undefined) throw unusable(name, `the response of ${place} is not a JSON object`, CHECK);
    const card = readCard(await verifiedCard(written, settings, parts));
    if (card === undefined) throw unusable(name, `the card at ${place} has no name or no interface`, CHECK);
    return { url: place, card };
  }
  throw unusable(name, `no card was found at ${places.join(" or ")}`, CHECK);
}

const CHECK = "Check the agent's url.";

/** Returns the addresses to try for a card, in order; undefined if `url` is not a URL. */
function placesOf(url: string): readonly string[] | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined;
  if (parsed.pathname.endsWith(".json")) return [parsed.href];
  const base = parsed.origin + parsed.pathname.replace(/\/+$/, "");
  const wellKnown = ["agent-card.json", "agent.json"].map((file) => `${base}/.well-known/${file}${parsed.search}`);
  return parsed.pathname === "/" ? wellKnown : [...wellKnown, parsed.href];
}

async function fetchCard(
  place: string,
  { name, maxCardBytes = MAX_CARD_BYTES }: A2aAgentSettings,
  { egress, headers, signal }: LoadCardParts,
): Promise<string | undefined> {
  const asked = egress.request(place, {
    headers: { accept: "application/json", "user-agent": "toolarsenal", "a2a-version": "1.0", ...headers },
    secretHeaders: Object.keys(headers),
    signal,
    maxBytes: maxCardBytes,
    trusted: true,
  });
  const answer = await asked.catch((cause: unknown) => {
    if (!isArsenalError(cause) || cause.code !== "TRANSPORT_FAILED") throw cause;
    const problem = `Cannot read the agent card of ${name}. ${cause.message.replace(/\.?$/, ".")}`;
    const fix = "Check that the agent is running, and its url.";
    throw fixable("TRANSPORT_FAILED", problem, fix, { ...cause.details, field: "url", cause });
  });
  if (answer.status >= 300) {
    answer.body.destroy();
    if (ABSENT.has(answer.status)) return undefined;
    const isRefused = answer.status === 401 || answer.status === 403;
    throw unusable(name, `${place} answered HTTP ${answer.status}`, isRefused ? "Set the agent's headers." : CHECK);
  }
  try {
    return (await buffer(answer.body)).toString("utf8");
  } catch (cause) {
    if (isArsenalError(cause))
      throw unusable(name, `${place} has more than ${maxCardBytes} bytes`, "Raise max_card_bytes.", cause);
    throw new ArsenalError("TRANSPORT_FAILED", `The agent card at ${place} broke off: ${messageOf(cause)}`, { cause });
  }
}

function unusable(name: string, why: string, fix: string, cause?: unknown): ArsenalError {
  return fixable("PROTOCOL_ERROR", `The agent card of ${name} cannot be used: ${why}.`, fix, { field: "url", cause });
}
