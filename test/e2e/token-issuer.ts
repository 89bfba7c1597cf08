import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";

/** An issuer of tokens on loopback that does as tests tell it. */
export interface TokenIssuer {
  readonly issuer: string;
  /** The paths that were requested, oldest first. */
  readonly requests: string[];
  /** The forms that were posted, oldest first, each with the header Authorization. */
  readonly forms: { readonly authorization: string | undefined; readonly form: Record<string, string> }[];
  /** Answers for a path in place of the right one. */
  readonly answers: Map<string, { readonly status: number; readonly body: unknown; readonly location?: string }>;
  /** A token with these claims, signed with the newest key. */
  sign(claims: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** Signs with a new key from now on, and withdraws the old ones where told. */
  rotate(options?: { readonly withdraw?: boolean }): Promise<void>;
  close(): Promise<void>;
}

/** Starts an issuer with one ES256 key. */
export async function startTokenIssuer(path = ""): Promise<TokenIssuer> {
  const requests: string[] = [];
  const forms: TokenIssuer["forms"] = [];
  const answers: TokenIssuer["answers"] = new Map();
  let published: object[] = [];
  let current: { readonly kid: string; readonly key: CryptoKey };
  let made = 0;

  const rotate: TokenIssuer["rotate"] = async ({ withdraw = false } = {}) => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const kid = `key-${++made}`;
    current = { kid, key: privateKey };
    published = [...(withdraw ? [] : published), { ...(await exportJWK(publicKey)), kid, use: "sig", alg: "ES256" }];
  };
  await rotate();

  const server = createServer(async (request, response) => {
    const { url = "", method, headers } = request;
    requests.push(url);
    if (method === "POST")
      forms.push({
        authorization: headers.authorization,
        form: Object.fromEntries(new URLSearchParams(await text(request))),
      });
    const right = new Map<string, unknown>([
      [`${path}/.well-known/openid-configuration`, { issuer, jwks_uri: `${origin}/keys` }],
      ["/keys", { keys: published }],
    ]);
    const { status, body, location } = answers.get(url) ?? { status: right.has(url) ? 200 : 404, body: right.get(url) };
    response.writeHead(status, location === undefined ? {} : { location }).end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = origin + path;

  return {
    issuer,
    requests,
    forms,
    answers,
    rotate,
    sign: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: current.kid, ...header })
        .sign(current.key),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => void server.close(closed));
    },
  };
}
