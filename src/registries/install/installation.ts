import type { Surroundings } from "../../adapters/surroundings.ts";
import type { ServerInput } from "../entry/inputs.ts";
import type { ServerDraft } from "./draft.ts";

/** A server whose package was downloaded and verified, but not run. */
export interface Installation {
  readonly kind: string;
  /** The package with its version, the image or the address. */
  readonly label: string;
  /** Identifies the content: `sha512-…` from npm, `sha256:…` of a file or an image. Omitted if the kind has no checksum. */
  readonly checksum?: string;
  /** The folder with the installed files. It is moved when the server is added, and removed otherwise. */
  readonly staged?: string;
  readonly inputs: readonly ServerInput[];
  /** Returns the draft of the entry for files that are installed in this folder. */
  draft(folder: string): ServerDraft;
  /** Remarks for the user. */
  readonly remarks: readonly string[];
}

export interface InstallContext extends Pick<Surroundings, "egress" | "clock"> {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Creates an empty folder for installed files. */
  readonly staging: string;
  /** True if addresses may be private. */
  readonly allowPrivate: boolean;
  readonly signal?: AbortSignal | undefined;
}
