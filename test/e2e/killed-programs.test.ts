import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { isGroupAlive } from "../../src/system/process-group.ts";
import { askAt } from "../serve/rest-gateway.ts";
import { startGateway } from "./gateway-process.ts";
import { eventually } from "./replicas/eventually.ts";

/** Writes the id of its process, which leads its group, and then heeds nothing but SIGKILL. */
const STUBBORN = `
# @cmd Waits for a very long time.
# @option --file! Where the id of its process goes.
wait_long() {
  trap '' TERM INT HUP
  sleep 1000 &
  echo $$ > "$argc_file"
  wait
}
`;

// because Windows has no process groups.
it.skipIf(process.platform === "win32")(
  "a script that a gateway runs ends within 15 seconds after the gateway was killed",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-killed-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "pid");
    writeFileSync(join(folder, "stubborn.sh"), STUBBORN);
    const gateway = await startGateway({
      servers: {},
      tier: "lexical",
      settings: { scripts: [{ name: "local", paths: [join(folder, "stubborn.sh")] }] },
    });
    onTestFinished(async () => void (await gateway.close()));
    const call = { toolName: "local.wait_long", arguments: { file } };
    const answered = askAt(`${gateway.url}/api/v1`)("POST", "/execute", { body: call }).then(
      ({ text }) => text,
      () => "broken",
    );
    const started = eventually("the script runs", () => existsSync(file) && readFileSync(file, "utf8") !== "");
    expect(await Promise.race([started.then(() => "started"), answered])).toBe("started");
    const leader = Number(readFileSync(file, "utf8"));
    onTestFinished(() => {
      if (isGroupAlive(leader)) process.kill(-leader, "SIGKILL");
    });
    expect(isGroupAlive(leader)).toBe(true);

    process.kill(gateway.pid, "SIGKILL");
    expect(await answered).toBe("broken");
    await eventually("the script has ended", () => !isGroupAlive(leader), { withinMs: 15_000 });
  },
  60_000,
);
