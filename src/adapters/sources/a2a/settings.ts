import type { SecretReference } from "../../../guard/secrets/reference.ts";
import { choice, entry, flag, path, text, texts, whole } from "../../settings.ts";
import { type Credential, credentials } from "../credentials/settings.ts";

/** Another agent that speaks A2A. */
export interface A2aAgentSettings {
  /** The ensemble's name, and the namespace of its tools unless `namespace` says another. */
  readonly name: string;
  readonly namespace?: string;
  /** The agent's address, below which its card is at `/.well-known/agent-card.json`, or the address of the card itself. */
  readonly url: string;
  /** Where the agent is called, instead of the address in its card. The credentials go there. */
  readonly endpoint?: string;
  /** The binding to use. Defaults to the first in the card that is supported. */
  readonly transport?: "jsonrpc" | "http+json";
  /** What the agent wants to see, by the name of the card's security scheme. */
  readonly credentials?: Readonly<Record<string, Credential>>;
  /** Sent with every request. A value `env:NAME` is read from the environment. */
  readonly headers?: Readonly<Record<string, SecretReference | string>>;
  /** A client certificate for agents that ask for mutual TLS. */
  readonly tls?: ClientCertificateFiles;
  /** Keys that may sign the agent's card: a JWKS file or its address. */
  readonly trustedKeys?: string;
  /** Refuses cards without a signature by one of `trustedKeys`. Default false. */
  readonly requireSignature?: boolean;
  /** Seconds between two looks at the card; 0 reads it only once. Default 300. */
  readonly refreshS?: number;
  /** Bytes of the card. Default 1 MiB. */
  readonly maxCardBytes?: number;
  /** Bytes of one answer, or of one stream of updates. Default 16 MiB. */
  readonly maxAnswerBytes?: number;
  /** Time one call may take, in milliseconds. Defaults to `execution.defaultTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Calls at once. */
  readonly maxConcurrent?: number;
}

/** How an agent is added. */
export interface AddAgentOptions {
  /** If the agent cannot be connected, retries in the background until it is removed. The first failure is still thrown. */
  readonly patient?: boolean;
  /** Gives up connecting. */
  readonly signal?: AbortSignal | undefined;
}

/** PEM files for mutual TLS. */
export interface ClientCertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** Certificates that the server's own may be signed by, instead of the public ones. */
  readonly ca?: string;
}

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
