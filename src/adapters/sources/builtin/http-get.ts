import { buffer } from "node:stream/consumers";
import type { Egress } from "../../../guard/egress/egress.ts";
import type { OfferedTool } from "../../../register/source.port.ts";
import { present } from "../../../base/present.ts";
import { argumentsOf, toContent, withoutEffect } from "./tool-parts.ts";
import type { HttpSettings } from "./settings.ts";

const MAX_BYTES = 1024 * 1024;

/** Defines `http_get`. Returns the content of an address, whatever the HTTP status. */
export function httpGet(egress: Egress, { allowedDomains, maxBytes = MAX_BYTES }: HttpSettings = {}): OfferedTool {
  return {
    draft: {
      name: "http_get",
      sourceName: "http-get",
      description: "Fetch what is at a URL with an HTTP GET request",
      examples: ["open https://example.com", "download this page", "what does this API answer?"],
      category: "http",
      parameters: argumentsOf({ url: { type: "string", description: "An http or https address" } }, "url"),
      capabilities: ["network_access"],
      riskLevel: "medium",
      annotations: { readOnly: true, idempotent: true, openWorld: true },
      timeoutMs: 30_000,
    },
    async handler(args, { signal }) {
      const { url } = args as { readonly url: string };
      return withoutEffect("caller", async () => {
        const asked = { signal, maxBytes, ...(allowedDomains && { allowedDomains }) };
        const { status, url: address, headers, body } = await egress.request(url, asked);
        const contentType = headers["content-type"];
        return { status, url: address, ...present({ contentType }), ...toContent(await buffer(body)) };
      });
    },
  };
}
