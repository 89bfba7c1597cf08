import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { showValue } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { Operation } from "./operations.ts";
import type { JsonObject } from "./references.ts";
import type { OpenApiSettings } from "../settings.ts";

/** Where an operation's requests go. */
export interface Server {
  /** Without a slash at its end. */
  readonly base: string;
  /** True if the operator wrote the address, so that it may be on this machine or a private network. */
  readonly trusted: boolean;
}

/** The server of an operation: the operator's, or the first that the operation, its path or the document names. Throws CONFIG_INVALID if none is whole. */
export function chooseServer(
  { definition, item }: Operation,
  parts: {
    readonly root: JsonObject;
    /** Where the document came from. */
    readonly documentUrl?: string | undefined;
    readonly settings: Pick<OpenApiSettings, "server" | "serverVariables" | "name">;
  },
): Server {
  const { root, documentUrl, settings } = parts;
  if (settings.server !== undefined) {
    if (URL.parse(settings.server) === null) {
      const fix = "Write it as https://host/path.";
      throw misconfigured(`server is ${showValue(settings.server)}, which is no address. ${fix}`, "server", fix);
    }
    return { base: toBase(settings.server), trusted: true };
  }
  const [server] = [definition, item, root].flatMap(({ servers }) => (Array.isArray(servers) ? servers : []));
  const url = isPlainObject(server) && typeof server["url"] === "string" ? server["url"] : "/";
  const filled = fillVariables(
    url,
    isPlainObject(server) ? server["variables"] : undefined,
    settings.serverVariables ?? {},
  );
  const found = locate(filled, { documentUrl });
  if (found === undefined) {
    const fix = "Set server to the address of the API.";
    throw misconfigured(`The document of ${settings.name} does not say where the API is. ${fix}`, "server", fix);
  }
  return { base: toBase(found.url), trusted: found.trusted };
}

/** A whole address. */
export interface Located {
  readonly url: string;
  /** True if its host is one that the operator wrote. */
  readonly trusted: boolean;
}

/** An address of the document, made whole; undefined if that cannot be. */
export function locate(
  address: string,
  written: { readonly documentUrl?: string | undefined; readonly server?: string | undefined },
): Located | undefined {
  const whole = URL.parse(address, written.documentUrl);
  if (whole === null) return undefined;
  // An operator who wrote an address meant its host; another one in the document may be a trap.
  const trusted = [written.documentUrl, written.server].some(
    (each) => each !== undefined && URL.parse(each)?.origin === whole.origin,
  );
  return { url: whole.href, trusted };
}

function fillVariables(url: string, variables: unknown, values: Readonly<Record<string, string>>): string {
  const known = isPlainObject(variables) ? variables : {};
  return url.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const variable = Object.hasOwn(known, name) && isPlainObject(known[name]) ? known[name] : {};
    const field = `serverVariables.${name}`;
    const value = Object.hasOwn(values, name) ? values[name] : variable["default"];
    const choices = Array.isArray(variable["enum"]) ? variable["enum"] : undefined;
    if (value === undefined) throw misconfigured(`The server's address needs ${field}. Set it.`, field, "Set it.");
    if (choices !== undefined && Object.hasOwn(values, name) && !choices.includes(value)) {
      const fix = `Use one of ${choices.map((each) => showValue(each)).join(", ")}.`;
      throw misconfigured(`${field} is ${showValue(value)}, which the server does not know. ${fix}`, field, fix);
    }
    return String(value);
  });
}

function toBase(address: string): string {
  return address.replace(/[?#].*$/, "").replace(/\/+$/, "");
}

function misconfigured(message: string, field: string, fix: string): ArsenalError {
  return new ArsenalError("CONFIG_INVALID", message, { field, fix, beforeSend: true });
}
