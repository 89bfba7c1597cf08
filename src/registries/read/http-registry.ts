import type { Surroundings } from "../../adapters/surroundings.ts";
import type { RegistrySettings } from "../../config/sections.ts";
import { type ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { count, messageOf, showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { ListOptions, Registry, RegistryListing } from "./registry.ts";
import { readEntry, type RegistryEntry } from "./server-json.ts";

const TIMEOUT_MS = 15_000;
const PAGE = 100;
/** Limits a listing to 20,000 servers. The official registry had fewer than half of that in 2026. */
const MAX_PAGES = 200;
const MAX_BYTES = 8 * 1024 * 1024;

/** Opens a registry with the MCP registry's API, version 0.1. */
export function httpRegistry(
  settings: RegistrySettings & { readonly url: string },
  { egress, secrets, clock }: Pick<Surroundings, "egress" | "secrets" | "clock">,
): Registry {
  const { name, token, timeoutMs = TIMEOUT_MS, allowPrivate = false, packageHosts = [] } = settings;
  const base = settings.url.replace(/\/+$/, "").replace(/\/v0(?:\.1)?$/, "");

  function failed(reason: string, cause?: unknown): ArsenalError {
    const problem = `The registry ${showValue(name)} (${base}) ${reason}.`;
    const fix = "Retry later, or add a server without it: toolarsenal add --file server.json";
    return fixable("SOURCE_UNAVAILABLE", problem, fix, { field: "registry", value: name, cause });
  }

  /** Sends one request. Returns undefined for status 404. */
  async function ask(path: string, signal: AbortSignal | undefined): Promise<unknown> {
    const late = new AbortController();
    const timer = clock.after(timeoutMs, () => late.abort());
    const both = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    try {
      const bearer =
        token === undefined
          ? undefined
          : await secrets.resolve(token, { scope: `the registry ${name}`, field: "token", signal: both });
      const { status, body } = await egress.request(`${base}/v0.1${path}`, {
        headers: { accept: "application/json", ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
        signal: both,
        trusted: true,
        maxRedirects: 3,
        maxBytes: MAX_BYTES,
      });
      const parts: Uint8Array[] = [];
      for await (const part of body) {
        if (both.aborted) throw new Error("aborted");
        parts.push(part);
      }
      if (status === 404) return undefined;
      if (status === 401 || status === 403) throw failed(`refused the request with ${status}. Set its token`);
      if (status < 200 || status > 299) throw failed(`answered with ${status}`);
      return parse(Buffer.concat(parts).toString("utf8"));
    } catch (error) {
      if (signal?.aborted === true) throw error;
      if (late.signal.aborted) throw failed(`did not answer within ${timeoutMs / 1000} s`, error);
      if (isArsenalError(error) && error.details.field === "registry") throw error;
      throw failed(`cannot be used: ${messageOf(error).replace(/\.$/, "")}`, error);
    } finally {
      timer();
    }
  }

  function parse(text: string): unknown {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw failed(`answered with ${showValue(text.slice(0, 40))}, which is not JSON`);
    }
  }

  async function readPages(path: string, signal: AbortSignal | undefined): Promise<RegistryListing> {
    const entries: RegistryEntry[] = [];
    const unusable: string[] = [];
    const remarks: string[] = [];
    const cursors = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; ; page++) {
      if (page === MAX_PAGES) {
        remarks.push(`${name}: only the first ${MAX_PAGES * PAGE} servers were read.`);
        break;
      }
      const joined = `${path}${path.includes("?") ? "&" : "?"}limit=${PAGE}`;
      const answer = await ask(
        cursor === undefined ? joined : `${joined}&cursor=${encodeURIComponent(cursor)}`,
        signal,
      );
      if (answer === undefined && page === 0) return { entries: [], remarks: [] };
      if (!isPlainObject(answer) || !Array.isArray(answer["servers"]))
        throw failed('answered without a list "servers"');
      for (const value of answer["servers"].slice(0, PAGE * 10) as readonly unknown[]) {
        const read = readEntry(value, name);
        if ("server" in read) entries.push(read);
        else unusable.push(`${read.field} ${read.message}`);
      }
      const next = isPlainObject(answer["metadata"]) ? answer["metadata"]["nextCursor"] : undefined;
      if (typeof next !== "string" || next === "") break;
      if (cursors.has(next)) {
        remarks.push(`${name}: the registry repeats its pages; the rest was not read.`);
        break;
      }
      cursors.add(next);
      cursor = next;
    }
    if (unusable.length > 0) remarks.push(`${name}: ${count(unusable.length, "document")} left out (${unusable[0]}).`);
    return { entries, remarks };
  }

  const encoded = (part: string): string => encodeURIComponent(part);
  return {
    name,
    location: base,
    allowPrivate,
    packageHosts,
    async list({ signal, updatedSince }: ListOptions) {
      const since = updatedSince === undefined ? "" : `&updated_since=${encoded(updatedSince)}`;
      return readPages(`/servers?version=latest${since}`, signal);
    },
    async get(server, version = "latest", { signal }) {
      // A deleted version must be refused as deleted, with the publisher's reason. Without this parameter, the registry answers 404.
      const path = `/servers/${encoded(server)}/versions/${encoded(version)}?include_deleted=true`;
      const answer = await ask(path, signal);
      if (answer === undefined) return undefined;
      const read = readEntry(answer, name);
      if (!("server" in read))
        throw failed(`has an invalid document for ${showValue(server)}: ${read.field} ${read.message}`);
      // The registry must answer with the requested server.
      if (read.server.name !== server)
        throw failed(`answered with ${showValue(read.server.name)} for ${showValue(server)}`);
      if (version !== "latest" && read.server.version !== version)
        throw failed(`answered with version ${showValue(read.server.version)} for ${showValue(version)}`);
      return read;
    },
    async versions(server, { signal }) {
      const { entries } = await readPages(`/servers/${encoded(server)}/versions`, signal);
      return entries.filter((entry) => entry.server.name === server);
    },
  };
}
