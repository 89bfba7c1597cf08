import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { expect, it } from "vitest";
import { describeProcess, hasEnded } from "./process-table.ts";

const module = new URL("process-table.ts", import.meta.url).href;
const program = `import { describeProcess } from "${module}"; process.stdout.write(describeProcess()); setInterval(() => {}, 1000);`;

it("tells that a process was killed, and not while it runs", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const description = said.toString();
  expect(hasEnded(description)).toBe(false);
  expect(hasEnded(describeProcess())).toBe(false);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  expect(hasEnded(description)).toBe(true);
  // A process of another machine or container cannot be seen from here.
  expect(hasEnded(description.replace(hostname(), "another-machine"))).toBe(false);
  expect(hasEnded(`${description} another container`)).toBe(false);
});

// because only Linux says when a process started
it.skipIf(process.platform !== "linux")("tells a process from an earlier one with the same pid", () => {
  const [pid = "", start = "", ...host] = describeProcess().split(" ");
  expect(hasEnded([pid, `${Number(start) - 1}`, ...host].join(" "))).toBe(true);
});

it("takes nonsense for no process that ended", () => {
  const [, start = "", ...host] = describeProcess().split(" ");
  for (const pid of ["", "0", "-1", "x"]) expect(hasEnded([pid, start, ...host].join(" "))).toBe(false);
});
