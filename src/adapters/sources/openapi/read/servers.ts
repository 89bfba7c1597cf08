import { type ArsenalError, fixable } from "../../../../errors/arsenal-error.ts";
import { showValue } from "../../../../errors/show-value.ts";
import { asList, asRecord, asText } from "../../../../tool/json-schema.ts";
import type { Operation } from "./operations.ts";
import type { JsonObject } from "./references.ts";
import type { OpenApiSettings } from "../settings.ts";

export interface Server {
  /** Without a trailing slash. */
  readonly base: string;
  /** True if the operator wrote the address. It may then be on this machine or in a private network. */
  readonly trusted: boolean;
}

/**
 * Returns the server of an operation: the one in the settings, or else the first that the operation, its path or the document names. Throws
 * CONFIG_INVALID if there is no complete address.
 */
export function chooseServer(
  { definition, item }: Operation,
  parts: {
    readonly root: JsonObject;
    /** The address of the document. */
    readonly documentUrl?: string | undefined;
    readonly settings: Pick<OpenApiSettings, "server" | "serverVariables" | "name">;
  },
): Server {
  const { root, documentUrl, settings } = parts;
  if (settings.server !== undefined) {
    if (URL.parse(settings.server) === null)
      throw misconfigured(
        `server is ${showValue(settings.server)}, which is not an address.`,
        "Write it as https://host/path.",
        "server",
      );
    return { base: toBase(settings.server), trusted: true };
  }
  const [first] = [definition, item, root].flatMap(({ servers }) => asList(servers));
  const { url, variables } = asRecord(first);
  const filled = fillVariables(asText(url) ?? "/", asRecord(variables), settings.serverVariables ?? {});
  const found = locate(filled, { documentUrl });
  if (found !== undefined) return { base: toBase(found.url), trusted: found.trusted };
  const problem = `The document of ${settings.name} names no server.`;
  throw misconfigured(problem, "Set server to the address of the API.", "server");
}

/** An absolute address. */
export interface Located {
  readonly url: string;
  /** True if the operator wrote its origin. */
  readonly trusted: boolean;
}

/** Resolves an address in the document; undefined if that is impossible. */
export function locate(
  address: string,
  written: { readonly documentUrl?: string | undefined; readonly server?: string | undefined },
): Located | undefined {
  const whole = URL.parse(address, written.documentUrl);
  if (whole === null) return undefined;
  // An operator who wrote an address trusts its host. Other hosts in the document may be malicious.
  const trusted = [written.documentUrl, written.server].some(
    (each) => each !== undefined && URL.parse(each)?.origin === whole.origin,
  );
  return { url: whole.href, trusted };
}

function fillVariables(url: string, variables: JsonObject, values: Readonly<Record<string, string>>): string {
  return url.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const { default: fallback, enum: choices } = asRecord(Object.hasOwn(variables, name) && variables[name]);
    const field = `serverVariables.${name}`;
    const given = Object.hasOwn(values, name) ? values[name] : undefined;
    const value = given ?? fallback;
    if (value === undefined) throw misconfigured(`The server's address needs ${field}.`, "Set it.", field);
    if (Array.isArray(choices) && given !== undefined && !choices.includes(given)) {
      const fix = `Use one of ${choices.map((each) => showValue(each)).join(", ")}.`;
      throw misconfigured(`${field} is ${showValue(value)}, which the document does not allow.`, fix, field);
    }
    return String(value);
  });
}

function toBase(address: string): string {
  return address.replace(/[?#].*$/, "").replace(/\/+$/, "");
}

function misconfigured(problem: string, fix: string, field: string): ArsenalError {
  return fixable("CONFIG_INVALID", problem, fix, { field, beforeSend: true });
}
