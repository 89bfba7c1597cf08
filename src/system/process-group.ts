import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { type Clock, within } from "../observe/clock.ts";
import { statOf } from "./process-table.ts";

export const HAS_GROUPS: boolean = process.platform !== "win32";

/** Time limit of each step of stopping a group, in milliseconds. Together they stay below five seconds. */
const GRACE_MS = { stdinClosed: 1500, terminated: 1500, killed: 1000 } as const;

/** Only the leader of a group is our child. No event reports the end of its other members, so they are polled. */
const LOOK_EVERY_MS = 20;

export function isGroupAlive(leader: number): boolean {
  try {
    process.kill(HAS_GROUPS ? -leader : leader, 0);
    return process.platform !== "linux" || hasLivingMember(leader);
  } catch (error) {
    // EPERM: the process exists, but this user may no longer signal it.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Reads each member's state on Linux. An ended process exists until its parent has collected its status, and in many containers the parent of orphans
 * never does so.
 */
function hasLivingMember(leader: number): boolean {
  if (isLivingMember(String(leader), leader)) return true;
  try {
    return readdirSync("/proc").some((name) => /^\d/.test(name) && isLivingMember(name, leader));
  } catch {
    return true;
  }
}

function isLivingMember(pid: string, leader: number): boolean {
  const stat = statOf(pid);
  return stat?.group === String(leader) && !stat.isDead;
}

/** Signals every process of a group, if the group still exists. Windows has no groups, so its process tree is ended. */
export function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
  if (!HAS_GROUPS) {
    spawnSync("taskkill", ["/pid", String(leader), "/T", "/F"], { stdio: "ignore", windowsHide: true });
    return;
  }
  try {
    process.kill(-leader, signal);
  } catch {
    // The process has already ended.
  }
}

/** Ends a group whose leader's stdin was closed: waits for the leader to exit by itself, then sends SIGTERM to the group, then kills it. */
export async function stopGroup(leader: number, exited: Promise<void>, clock: Clock): Promise<void> {
  await within(GRACE_MS.stdinClosed, exited, clock);
  if (!isGroupAlive(leader)) return;
  signalGroup(leader, "SIGTERM");
  if (await isGoneWithin(GRACE_MS.terminated, leader, clock)) return;
  signalGroup(leader, "SIGKILL");
  await isGoneWithin(GRACE_MS.killed, leader, clock);
}

async function isGoneWithin(ms: number, leader: number, clock: Clock): Promise<boolean> {
  const deadline = clock.now() + ms;
  while (isGroupAlive(leader)) {
    if (clock.now() >= deadline) return false;
    await new Promise<void>((resolve) => void clock.after(LOOK_EVERY_MS, resolve));
  }
  return true;
}
