import { choice, entry, flag, type InputOf, path, text, whole } from "../../../tool/shape/shape.ts";
import { credentials, secretTexts } from "../credentials/settings.ts";

const TLS = entry(
  "A client certificate, for agents that ask for mutual TLS.",
  {
    cert: path("PEM file of the certificate."),
    key: path("PEM file of its private key, without a passphrase."),
    ca: path("PEM file of the certificates that the agent's own may be signed by."),
  },
  ["cert", "key"],
);

export const config = entry(
  "One agent.",
  {
    name: text("The agent's name, and the namespace of its tools."),
    url: text("The agent's address, or the address of its card."),
    namespace: text("Another namespace for its tools."),
    endpoint: text("Where the agent is called, instead of the address in its card. The credentials go there."),
    transport: choice("The binding to use; by default the first in the card.", ["jsonrpc", "http+json"]),
    credentials: credentials("the card's"),
    headers: secretTexts("Headers sent with every request; a value such as env:NAME refers to a secret."),
    tls: TLS,
    trustedKeys: path("Keys that may sign the card: a JWKS file, or its address."),
    requireSignature: flag("Whether cards without a signature by a trusted key are refused."),
    refreshS: whole("Seconds between two reads of the card; 300 by default, 0 for never.", 0, 86_400),
    maxCardBytes: whole("Bytes of the card; 1048576 by default.", 1_024, 67_108_864),
    maxAnswerBytes: whole("Bytes of one answer or stream; 16777216 by default.", 1_024, 1_073_741_824),
    timeoutMs: whole("Time one call may take, in milliseconds.", 1, 2_147_483_647),
    maxConcurrent: whole("Calls at once.", 1, 100_000),
  },
  ["name", "url"],
);

/** Another agent, reached over A2A. */
export type A2aAgentSettings = InputOf<typeof config>;

/** PEM files for mutual TLS. */
export type ClientCertificateFiles = InputOf<typeof TLS>;

/**
 * The skills of another agent, for `arsenal.add`.
 *
 * @example
 * await arsenal.add(a2a({ name: "weather", url: "https://weather.example.com" }));
 */
export function a2a(settings: A2aAgentSettings) {
  return { ...settings, type: "a2a" as const };
}
