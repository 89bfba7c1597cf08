import type { Identity } from "../../guard/identity.port.ts";

/** The address of the gateway, and its allowed callers. Omitted options come from the section `server` of the configuration. */
export interface ListenOptions {
  /** Defaults to 127.0.0.1. */
  readonly host?: string;
  /** Defaults to 8080. 0 chooses a free port. */
  readonly port?: number;
  /** Authenticates callers. If omitted, every caller is the local operator, and the server listens only on loopback. */
  readonly identity?: Identity;
  /**
   * The address that clients use, if it differs from the listening address: `https://tools.example.com`, or `https://example.com/tools` below a path.
   */
  readonly publicUrl?: string;
  /** Names that clients may use for this server, in addition to loopback names, the bound host and the host of `publicUrl`. */
  readonly allowedHosts?: readonly string[];
  /** Origins of other web pages that may call the server: `http://localhost:6274`. */
  readonly allowedOrigins?: readonly string[];
  /** Serves https with this certificate, TLS 1.2 or newer, and watches its files. Defaults to plain http. */
  readonly tls?: TlsFiles;
}

/** The PEM files of the server's certificate. */
export interface TlsFiles {
  /** The certificate, followed by intermediate certificates. */
  readonly cert: string;
  /** The private key, without a passphrase. */
  readonly key: string;
  /** Intermediate certificates, if `cert` does not contain them. */
  readonly ca?: string;
}
