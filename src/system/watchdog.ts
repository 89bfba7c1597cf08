import { spawn, type ChildProcess } from "node:child_process";
import { HAS_GROUPS, signalGroup } from "./process-group.ts";

/**
 * The shell program. It runs in its own session, so that Ctrl-C does not reach it. It reads group ids from its stdin; stdin ends when the process
 * that started the groups is gone. The groups' own stdin ended at the same moment: they get one second to exit, one more after SIGTERM, and are then
 * killed.
 */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r word group; do
  case $word in
    add) groups="$groups$group " ;;
    remove) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
signal() { some=1; for group in $groups; do kill -s "$1" -- "-$group" 2>/dev/null && some=0; done; return $some; }
signal 0 && sleep 1 && signal TERM && sleep 1 && signal KILL
`;

/**
 * Ends process groups when the process that started them ends. One small shell does this for all groups. Without a shell, groups outlive a killed
 * process. The shell exits `lingerMs` after the last group, immediately by default.
 */
export function createWatchdog(
  shellPath: string | undefined = HAS_GROUPS ? "/bin/sh" : undefined,
  { lingerMs = 0 }: { readonly lingerMs?: number } = {},
) {
  const leaders = new Set<number>();
  let lingering: NodeJS.Timeout | undefined;
  let shell: ChildProcess | undefined;
  let isShellMissing = false;

  function send(line: string): void {
    shell?.stdin?.write(`${line}\n`);
  }

  function ensureShell(): void {
    if (shellPath === undefined || isShellMissing || shell !== undefined) return;
    const started = spawn(shellPath, ["-c", SCRIPT], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      cwd: "/",
      env: { PATH: process.env["PATH"] },
    });
    started.on("error", () => {
      isShellMissing = true;
      shell = undefined;
    });
    started.on("exit", () => {
      if (shell === started) shell = undefined;
    });
    started.stdin.on("error", () => {});
    started.unref();
    shell = started;
    for (const leader of leaders) send(`add ${leader}`);
  }

  function rest(): void {
    if (leaders.size > 0) return;
    process.off("exit", endAll);
    if (lingerMs === 0) endShell();
    else lingering ??= setTimeout(endShell, lingerMs).unref();
  }

  function endShell(): void {
    lingering = undefined;
    if (leaders.size > 0) return;
    shell?.stdin?.end();
    shell = undefined;
  }

  /** The shell kills processes that ignore SIGTERM. */
  function endAll(): void {
    for (const leader of leaders) signalGroup(leader, shell === undefined ? "SIGKILL" : "SIGTERM");
  }

  return {
    /** Starts a process group and watches it from the start. The process is the group's leader. */
    launch<Child extends ChildProcess>(begin: () => Child): Child {
      ensureShell();
      try {
        const child = begin();
        if (child.pid !== undefined) {
          if (leaders.size === 0) process.on("exit", endAll);
          leaders.add(child.pid);
          send(`add ${child.pid}`);
        }
        return child;
      } finally {
        rest();
      }
    },
    /** Stops watching an ended group, before its id is reused. */
    forget(leader: number): void {
      if (leaders.delete(leader)) send(`remove ${leader}`);
      rest();
    },
  };
}
