import { choice, entry, flag, type InputOf, path, text, whole } from "../../../tool/shape/shape.ts";
import { credentials, secretTexts } from "../credentials/settings.ts";

const TLS = entry(
  "Client certificate, for agents that require mutual TLS.",
  {
    cert: path("PEM file with the client certificate."),
    key: path("PEM file with the certificate's private key, without a passphrase."),
    ca: path("PEM file with the certificate authorities that may sign the agent's certificate."),
  },
  ["cert", "key"],
);

export const config = entry(
  "One A2A agent.",
  {
    name: text("Name of the agent, and namespace of its tools."),
    url: text("URL of the agent or of its card."),
    namespace: text("Namespace of the agent's tools. Defaults to its name."),
    endpoint: text(
      "URL at which the agent is called, instead of the URL in its card. The credentials are sent to this URL.",
    ),
    transport: choice("The A2A protocol binding. Defaults to the first binding in the card.", ["jsonrpc", "http+json"]),
    credentials: credentials("the card's"),
    headers: secretTexts("Headers sent with every request. A value may be a secret reference such as env:NAME."),
    tls: TLS,
    trustedKeys: path("Keys that may sign the card: path or URL of a JWKS file."),
    requireSignature: flag("Whether a card that no trusted key has signed is refused. Defaults to false."),
    refreshS: whole("How often the card is read again, in seconds. 0: never. Defaults to 300.", 0, 86_400),
    maxCardBytes: whole("Maximum size of the card, in bytes. Defaults to 1048576.", 1_024, 67_108_864),
    maxAnswerBytes: whole(
      "Maximum size of one response or stream, in bytes. Defaults to 16777216.",
      1_024,
      1_073_741_824,
    ),
    timeoutMs: whole(
      "Timeout of one call, in milliseconds. Defaults to execution.default_timeout_ms.",
      1,
      2_147_483_647,
    ),
    maxConcurrent: whole(
      "Maximum number of concurrent calls to the agent. Defaults to execution.max_concurrent_per_ensemble.",
      1,
      100_000,
    ),
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
