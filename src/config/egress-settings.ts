import { list, object, optional, path, text } from "../tool/shape/shape.ts";

/** The settings of `egress`. */
export const EGRESS = object("How requests leave this machine.", {
  proxy: text(
    "The forward proxy, http://host:port; none for no proxy. Defaults to the variables HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.",
  ),
  noProxy: optional(
    list(
      "Hosts that are reached without the proxy: a domain (with its subdomains), an address, a network such as 10.0.0.0/8, or *. Defaults to the variable NO_PROXY. This machine always is.",
      text("A host."),
      [],
    ),
  ),
  caFile: path(
    "A PEM file with certificate authorities to trust, in addition to those of Node and NODE_EXTRA_CA_CERTS.",
  ),
});

/** The setting `mcp.env_passthrough`. */
export const ENV_PASSTHROUGH = optional(
  list(
    "Variables of the gateway that programs get, by name or with * at the end (which passes no secrets). Defaults to what programs need for files, language, proxies and certificates: see docs/adapters/sources/mcp.md.",
    text("A name, or a pattern such as npm_config_*."),
    [],
  ),
);
