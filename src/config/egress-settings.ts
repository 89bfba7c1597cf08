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
