import type { SecretReference } from "../../../guard/secrets/reference.ts";
import { choice, entry, flag, type Given, path, text, texts, whole } from "../../settings.ts";
import { type Credential, credentials } from "../credentials/settings.ts";

/** Another agent that speaks A2A: the settings of a configuration file, with credentials as code writes them. */
export interface A2aAgentSettings extends Omit<Given<typeof config>, "credentials" | "headers" | "disabled"> {
  /** What the agent wants to see, by the name of the card's security scheme. */
  readonly credentials?: Readonly<Record<string, Credential>>;
  /** Sent with every request. A value `env:NAME` is read from the environment. */
  readonly headers?: Readonly<Record<string, SecretReference | string>>;
}

/** How an agent is added. */
export interface AddAgentOptions {
  /** If the agent cannot be connected, retries in the background until it is removed. The first failure is still thrown. */
  readonly patient?: boolean;
  /** Gives up connecting. */
  readonly signal?: AbortSignal | undefined;
}

/** PEM files for mutual TLS. */
export type ClientCertificateFiles = NonNullable<A2aAgentSettings["tls"]>;

export const config = entry(
  "One agent.",
  {
    name: text("The agent's name, and the namespace of its tools."),
    url: text("The agent's address, or the address of its card."),
    namespace: text("Another namespace for its tools."),
    endpoint: text("Where the agent is called, instead of the address in its card."),
    transport: choice("The binding to use; by default the first in the card.", ["jsonrpc", "http+json"]),
    credentials: credentials("the card's"),
    headers: texts("Headers sent with every request; a value such as env:NAME refers to a secret."),
    tls: entry(
      "A client certificate, for agents that ask for mutual TLS.",
      {
        cert: path("PEM file of the certificate."),
        key: path("PEM file of its private key, without a passphrase."),
        ca: path("PEM file of the certificates that the agent's own may be signed by."),
      },
      ["cert", "key"],
    ),
    trustedKeys: path("Keys that may sign the card: a JWKS file, or its address."),
    requireSignature: flag("Whether cards without a signature by a trusted key are refused."),
    refreshS: whole("Seconds between two looks at the card; 300 by default, 0 for never.", 0, 86_400),
    maxCardBytes: whole("Bytes of the card; 1048576 by default.", 1_024, 67_108_864),
    maxAnswerBytes: whole("Bytes of one answer or stream; 16777216 by default.", 1_024, 1_073_741_824),
    timeoutMs: whole("Time one call may take, in milliseconds.", 1, 2_147_483_647),
    maxConcurrent: whole("Calls at once.", 1, 100_000),
    disabled: flag("Whether it is left out."),
  },
  ["name", "url"],
);
