import type { Identity } from "../../guard/identity.port.ts";

/** The address of the gateway, and its allowed callers. Omitted options come from the section `server` of the configuration. */
export interface ListenOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 8080; 0 chooses a free port. */
  readonly port?: number;
  /** Without it, every caller is the local operator, and the server listens on loopback only. */
  readonly identity?: Identity;
  /**
   * The address that clients use for this server, if it differs from the listening address: `https://tools.example.com`, or
   * `https://example.com/tools` below a path.
   */
  readonly publicUrl?: string;
  /** Names by which clients may call this server, besides loopback's, the bound host and that of `publicUrl`. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may call it, besides its own: `http://localhost:6274`. */
  readonly allowedOrigins?: readonly string[];
  /** Serves over https with this certificate, TLS 1.2 or newer, and follows its files. Defaults to plain http. */
  readonly tls?: TlsFiles;
}

/** The PEM files of the certificate that a server proves itself with. */
export interface TlsFiles {
  /** The certificate, followed by the intermediate ones. */
  readonly cert: string;
  /** Its private key, without a passphrase. */
  readonly key: string;
  /** Intermediate certificates, if `cert` does not contain them. */
  readonly ca?: string;
}
