import type { ApiAnswer } from "./check-api.ts";

/** One request to a registry, and the status of its answer. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

const get = (path: string, status = 200): ApiRequest => ({ method: "GET", path, status });

/** Every kind of request that the MCP registry's API has, to a registry with this server that takes no changes. */
export function requestsFor(server: string, version: string): readonly ApiRequest[] {
  const one = `/v0.1/servers/${encodeURIComponent(server)}`;
  const [none, exact] = ["/v0.1/servers/none%2Fnone", `${one}/versions/${encodeURIComponent(version)}`];
  return [
    get("/v0.1/servers"),
    get("/v0.1/servers?limit=2"),
    get("/v0.1/servers?limit=2&cursor=2"),
    get("/v0.1/servers?limit=1000"),
    get(`/v0.1/servers?search=${encodeURIComponent(server.toUpperCase())}`),
    get("/v0.1/servers?search=nothing-has-this-name"),
    get("/v0.1/servers?version=latest"),
    get(`/v0.1/servers?version=${encodeURIComponent(version)}`),
    get("/v0.1/servers?updated_since=2020-01-01T00:00:00Z"),
    get("/v0.1/servers?updated_since=2999-01-01T00:00:00.5%2B01:00"),
    get("/v0.1/servers?include_deleted=true"),
    get("/v0.1/servers?limit=none", 400),
    get("/v0.1/servers?limit=0", 400),
    get("/v0.1/servers?cursor=none", 400),
    get("/v0.1/servers?updated_since=yesterday", 400),
    get(`${one}/versions`),
    get(`${one}/versions?include_deleted=true`),
    get(`${none}/versions`, 404),
    get(`${one}/versions/latest`),
    get(exact),
    get(`${exact}?include_deleted=true`),
    get(`${one}/versions/0.0.0-none`, 404),
    get(`${none}/versions/latest`, 404),
    { method: "PUT", path: exact, status: 501 },
    { method: "DELETE", path: exact, status: 501 },
    { method: "PATCH", path: `${exact}/status`, status: 403 },
    { method: "PATCH", path: `${one}/status`, status: 403 },
    { method: "POST", path: "/v0.1/publish", status: 501 },
  ];
}

/** Sends a request to a registry. */
export async function askRegistry(
  base: string,
  { method, path }: Pick<ApiRequest, "method" | "path">,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiAnswer> {
  const answer = await fetch(base + path, { method, headers });
  const type = answer.headers.get("content-type") ?? "";
  return { method, path: path.replace(/\?.*/, ""), status: answer.status, type, body: await answer.json() };
}
