/**
 * True where a token for `audience` is one for `resource`: both are the same address, or the resource lies below the audience. A token for
 * `https://tools.example.com/mcp` serves at `/mcp/upstreams/files`, and the other way round it does not.
 */
export function covers(audience: string, resource: string): boolean {
  const [wide, narrow] = [canonical(audience), canonical(resource)];
  return wide !== undefined && narrow !== undefined && (narrow === wide || narrow.startsWith(`${wide}/`));
}

/** Scheme and host in lower case, without the slash at the end; undefined for what is no plain address. */
function canonical(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") return undefined;
  return (url.origin + url.pathname).replace(/\/$/, "");
}
