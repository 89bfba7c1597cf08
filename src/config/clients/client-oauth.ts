import { isPlainObject } from "../../tool/json-schema.ts";
import type { McpOAuthConfig } from "../config.ts";

/** How clients spell what they know of OAuth. */
const SPELLINGS: Readonly<Record<string, keyof McpOAuthConfig>> = {
  clientId: "clientId",
  client_id: "clientId",
  CLIENT_ID: "clientId",
  clientSecret: "clientSecret",
  client_secret: "clientSecret",
  CLIENT_SECRET: "clientSecret",
  issuer: "issuer",
  clientMetadataUrl: "clientMetadataUrl",
  client_metadata_url: "clientMetadataUrl",
  scope: "scope",
  scopes: "scope",
  grant: "grant",
  redirectPort: "redirectPort",
  redirect_port: "redirectPort",
  callbackPort: "redirectPort",
  tokenFile: "tokenFile",
  token_file: "tokenFile",
};

const GRANTS: ReadonlySet<string> = new Set(["authorization_code", "client_credentials"]);

/** The OAuth settings of a client's server, in our words; what is none of them is left out. */
export function clientOAuth(
  value: unknown,
  expand: (field: string, text: string) => string,
): McpOAuthConfig | undefined {
  if (!isPlainObject(value)) return undefined;
  const members = Object.entries(value).flatMap(([key, given]): readonly (readonly [string, string | number])[] => {
    const name = Object.hasOwn(SPELLINGS, key) ? SPELLINGS[key] : undefined;
    const text = Array.isArray(given) ? given.join(" ") : given;
    if (name === "redirectPort") return isPort(given) ? [[name, given]] : [];
    if (name === undefined || typeof text !== "string" || text === "") return [];
    return name === "grant" && !GRANTS.has(text) ? [] : [[name, expand(`oauth.${key}`, text)]];
  });
  return Object.fromEntries(members);
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 65_535;
}
