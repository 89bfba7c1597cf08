import { existsSync, lstatSync, readlinkSync } from "node:fs";
import type { SandboxJob } from "../../../execute/sandbox.port.ts";

/** What a program finds on most systems: programs and libraries. Nothing of it is anybody's data. */
export const SYSTEM_FOLDERS: readonly string[] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/** What a program needs to find servers and to check them. */
const NETWORK_FILES: readonly string[] = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl"];

/** What bwrap is told: a file system with the named paths and nothing else, and namespaces of its own for everything. */
export function bubblewrapArguments(
  job: Pick<SandboxJob, "read" | "write" | "network" | "limits">,
  programs: readonly string[],
): readonly string[] {
  const { read = [], write = [], network = false, limits } = job;
  const size = String(limits.memoryBytes);
  const parts: readonly (readonly string[])[] = [
    ["--unshare-all"],
    // Without a user namespace of its own it would go on with our rights; within one it must not make another, where it would be root.
    ["--unshare-user", "--disable-userns", "--cap-drop", "ALL"],
    network ? ["--share-net"] : [],
    ["--die-with-parent", "--new-session"],
    // The settings of the kernel in /proc/sys belong to root, namespaces or not: where root starts jobs, they could be written.
    ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"],
    // Files in memory count as memory.
    ["--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--size", size, "--tmpfs", "/tmp"],
    programs.flatMap(showing),
    (network ? NETWORK_FILES : []).flatMap((path) => ["--ro-bind-try", path, path]),
    read.flatMap((path) => ["--ro-bind", path, path]),
    write.flatMap((path) => ["--bind", path, path]),
    // The root itself is a file system in memory too.
    ["--remount-ro", "/", "--chdir", write[0] ?? "/tmp", "--"],
  ];
  return parts.flat();
}

/** A path of the system as it is there: a link stays a link. */
function showing(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
