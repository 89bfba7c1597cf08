import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { dirname, join } from "node:path";
import { eventually } from "../../test/e2e/replicas/eventually.ts";
import type { ImageSettings } from "./images.ts";

export interface ContainerOptions {
  /** The image's files. */
  readonly root: string;
  readonly settings: ImageSettings;
  /** The folder that the container sees as /data, the only place it can write besides an empty /tmp. */
  readonly data: string;
  /** The configuration file, which the container sees as /etc/toolarsenal/config.yaml. */
  readonly config: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** More folders of this machine, which the container sees read-only at the same path. */
  readonly folders?: readonly string[];
}

const CONFIG = "/etc/toolarsenal/config.yaml";

/** A container that runs. */
export interface Container {
  /** The process id of its first process, as this machine sees it. */
  readonly pid: number;
  /** Everything it has written. */
  readonly log: () => string;
  signal(name: NodeJS.Signals): void;
  /** Its exit code. */
  readonly exited: Promise<number | null>;
}

/**
 * Prepares an image to run as a container engine runs it: as the image's user, with a read-only root, no capabilities, process ids of its own, and the
 * image's command as process 1. buildah's chroot isolation cannot make the root read-only, so bubblewrap does.
 */
export function prepareContainer({ root, settings, data, config, environment = {}, folders = [] }: ContainerOptions) {
  const [uid = 0, gid = uid] = settings.User.split(":").map(Number);
  assert.ok(uid > 0, `The image runs as ${settings.User}`);
  mkdirSync(data, { recursive: true });
  chownSync(data, uid, gid);
  // A container engine creates the places that it mounts.
  for (const place of [dirname(CONFIG), "proc", "dev", "tmp"]) mkdirSync(join(root, place), { recursive: true });
  writeFileSync(join(root, CONFIG), "");
  chmodSync(config, 0o644);

  function commandLine(command: readonly string[], isFirst: boolean): readonly string[] {
    const variables = [...settings.Env.map(entryOf), ...Object.entries({ HOME: "/data", ...environment })];
    const user = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs"];
    const isolation = ["bwrap", "--unshare-all", "--share-net", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"];
    const system = ["--ro-bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"];
    const mounts = ["--bind", data, "/data", "--ro-bind", config, CONFIG];
    for (const each of folders) mounts.push("--ro-bind", each, each);
    for (const [name, value] of variables) mounts.push("--setenv", name, value);
    if (isFirst) mounts.push("--as-pid-1", "--json-status-fd", "3");
    return [...user, ...isolation, ...system, ...mounts, "--chdir", settings.WorkingDir, "--", ...command];
  }

  /** Runs a command in a container of its own, to its end. */
  async function run(...command: readonly string[]) {
    const [program = "", ...args] = commandLine(command, false);
    const child = spawn(program, args, { cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr, [status]] = await Promise.all([
      readText(child.stdout),
      readText(child.stderr),
      once(child, "exit") as Promise<[number | null]>,
    ]);
    return { status, stdout, stderr };
  }

  return {
    /** Starts the image's own entry point and command, with more arguments. */
    async start(...more: readonly string[]): Promise<Container> {
      const [program = "", ...args] = commandLine([...settings.Entrypoint, ...settings.Cmd, ...more], true);
      const child = spawn(program, args, { cwd: "/", stdio: ["ignore", "pipe", "pipe", "pipe"] });
      const exited = (once(child, "exit") as Promise<[number | null]>).then(([code]) => code);
      let log = "";
      let status = "";
      child.stdout?.on("data", (part: Buffer) => (log += part.toString()));
      child.stderr?.on("data", (part: Buffer) => (log += part.toString()));
      (child.stdio[3] as Readable).on("data", (part: Buffer) => (status += part.toString()));
      const pidIn = (): string | undefined => /"child-pid": (\d+)/.exec(status)?.[1];
      await eventually("the container started", () => {
        assert.equal(child.exitCode, null, `The container ended at once.\n${log}`);
        return pidIn() !== undefined;
      });
      const pid = Number(pidIn());
      return { pid, log: () => log, signal: (name) => process.kill(pid, name), exited };
    },

    /** Runs a command of the gateway's program to its end and returns what it printed. */
    async cli(...args: readonly string[]): Promise<string> {
      const { status, stdout, stderr } = await run(...settings.Entrypoint, ...args, "--config", CONFIG);
      assert.equal(status, 0, `toolarsenal ${args.join(" ")}\n${stdout}\n${stderr}`);
      return stdout;
    },

    /** The exit code of the image's health check, for a gateway on another port than 8080. */
    async healthCheck(port: number): Promise<number | null> {
      const check = settings.Healthcheck.Test.slice(1).map((part) => part.replace(":8080/", `:${port}/`));
      return (await run(...check)).status;
    },

    /** The error codes of attempts to write, by path; "written" if it was possible. */
    async writes(...paths: readonly string[]): Promise<Readonly<Record<string, string>>> {
      const [node = ""] = settings.Entrypoint;
      const write = `(path) => { try { require("node:fs").writeFileSync(path, ""); return [path, "written"]; } catch (error) { return [path, error.code]; } }`;
      const code = `console.log(JSON.stringify(Object.fromEntries(${JSON.stringify(paths)}.map(${write}))))`;
      const { status, stdout, stderr } = await run(node, "-e", code);
      assert.equal(status, 0, stderr);
      return JSON.parse(stdout) as Record<string, string>;
    },
  };
}

/** User, capabilities and process id inside of a running process, as the kernel has them. */
export function rightsOf(pid: number): {
  readonly uid: string;
  readonly capabilities: string;
  readonly inside: string;
} {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const value = (name: string): string => new RegExp(`^${name}:\\s+(.+)$`, "m").exec(text)?.[1] ?? "";
  const last = (name: string): string => value(name).split("\t").at(-1) ?? "";
  return { uid: last("Uid"), capabilities: value("CapEff"), inside: last("NSpid") };
}

function entryOf(variable: string): readonly [string, string] {
  const at = variable.indexOf("=");
  return [variable.slice(0, at), variable.slice(at + 1)];
}
