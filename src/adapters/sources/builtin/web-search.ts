import { text as textOf } from "node:stream/consumers";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { sideOfStatus } from "../../../errors/blame.ts";
import type { Egress, EgressResponse } from "../../../guard/egress/egress.ts";
import type { Secrets } from "../../../guard/secrets/secrets.ts";
import { systemClock } from "../../../observe/clock.ts";
import type { OfferedTool } from "../../../register/source.port.ts";
import { asRecords, asText, isPlainObject } from "../../../tool/json-schema.ts";
import { present } from "../../../base/present.ts";
import { askedPause } from "../../service-request.ts";
import { parseObject } from "../parse-object.ts";
import { argumentsOf, withoutEffect } from "./tool-parts.ts";
import type { WebSearchSettings } from "./settings.ts";

const TAVILY = "https://api.tavily.com";
const MAX_BYTES = 4 * 1024 * 1024;

/** Defines `web_search`, which uses the Tavily API. */
export function webSearch(
  parts: { readonly egress: Egress; readonly secrets: Secrets },
  { apiKey = "env:TAVILY_API_KEY", url }: WebSearchSettings = {},
): OfferedTool {
  return {
    draft: {
      name: "web_search",
      sourceName: "web-search",
      description: "Search the web for information using a query string",
      examples: ["search the web for the latest Node release", "what is the news about fusion power?"],
      category: "search",
      parameters: argumentsOf(
        {
          query: { type: "string", description: "Search query", minLength: 1 },
          maxResults: { type: "integer", minimum: 1, maximum: 20, default: 5, description: "Max results to return" },
        },
        "query",
      ),
      capabilities: ["network_access", "external_api"],
      riskLevel: "low",
      annotations: { readOnly: true, openWorld: true },
      timeoutMs: 10_000,
    },
    async handler(args, { signal, caller }) {
      const { query, maxResults = 5 } = args as { readonly query: string; readonly maxResults?: number };
      const use = { scope: "web-search", field: "webSearch.apiKey", principal: caller, signal };
      const key = await parts.secrets.resolve(apiKey, use);
      return withoutEffect("tool", async () => {
        const response = await parts.egress.request(new URL("/search", url ?? TAVILY), {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
          body: JSON.stringify({ query, max_results: maxResults }),
          signal,
          maxBytes: MAX_BYTES,
          // The operator may configure a private address. Redirects are not followed.
          maxRedirects: 0,
          ...(url === undefined ? {} : { allowPrivate: true }),
        });
        const text = await textOf(response.body);
        if (response.status !== 200) throw refused(response, parts.secrets.redactor.text(text));
        return toAnswer(text);
      });
    },
  };
}

/** Keeps only the fields of the response that a reader needs. */
function toAnswer(text: string): { readonly results: readonly object[]; readonly answer?: string } {
  const body = parseObject(text);
  const results = body?.["results"];
  if (!Array.isArray(results))
    throw new ArsenalError("PROTOCOL_ERROR", "The response of the search has no list of results.");
  const answer = body?.["answer"];
  return {
    ...present({ answer: asText(answer) }),
    results: asRecords(results).map(({ title, url, content, score }) => ({ title, url, content, score })),
  };
}

function refused({ status, headers }: EgressResponse, text: string): ArsenalError {
  const detail = parseObject(text)?.["detail"];
  const said = isPlainObject(detail) ? detail["error"] : detail;
  const why = typeof said === "string" ? said : text.slice(0, 200);
  const retryAfterMs = status === 429 ? askedPause(headers, systemClock) : undefined;
  const fix = status === 401 ? " Check the key that webSearch.apiKey refers to." : "";
  const code = status === 429 ? "RATE_LIMITED" : "EXECUTION_FAILED";
  const message = `The search was refused with status ${status}: ${why}${fix}`;
  return new ArsenalError(code, message, { answered: true, fault: sideOfStatus(status), ...present({ retryAfterMs }) });
}
