import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Ranges that no server on the public internet has: this machine, private networks, link-local and metadata services, multicast, reserved. */
const IPV4_RANGES: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** IPv6 addresses in use on the public internet begin with 2 or 3; of those, these are something else. */
const IPV6_RANGES: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const blocked4 = listOf(IPV4_RANGES, "ipv4");
const blocked6 = listOf(IPV6_RANGES, "ipv6");
const public6 = listOf([["2000::", 3]], "ipv6");

/** True for an IP address that the whole internet can have, so that reaching it reaches nothing of this machine or its network. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !blocked4.check(address, "ipv4");
  return isIPv6(address) && public6.check(address, "ipv6") && !blocked6.check(address, "ipv6");
}

function listOf(ranges: readonly (readonly [string, number])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
}
