import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { IS_DEEP } from "../kit/effort.ts";
import { ROOT } from "../repo/project.ts";

const IMAGE = "toolarsenal:test";
const BUILD_MS = 15 * 60_000;

function docker(...parameters: readonly string[]): { readonly status: number | null; readonly stdout: string } {
  const { status, stdout, stderr } = spawnSync("docker", parameters, {
    cwd: ROOT,
    encoding: "utf8",
    timeout: BUILD_MS,
  });
  return { status, stdout: `${stdout ?? ""}${status === 0 ? "" : (stderr ?? "")}`.trim() };
}

// The build takes minutes and fetches base images, so `npm test` leaves it to continuous integration and to `npm run test:deep`.
const isWanted = IS_DEEP || process.env["CI"] === "true";
const hasEngine = isWanted && docker("info").status === 0;
if (!hasEngine)
  process.stderr.write(
    `The image is not built: ${isWanted ? "no Docker engine answers" : "set CI=true or run npm run test:deep"}. ` +
      "test/repo/deploy.test.ts lints the Dockerfile, and npm run containers builds it without Docker.\n",
  );

// because there may be no Docker engine, which is printed
describe.skipIf(!hasEngine)("the image that Docker builds", () => {
  it(
    "starts as it is meant to be run, becomes healthy, answers, and stops when asked",
    async () => {
      const built = docker("build", "--tag", IMAGE, ".");
      expect(built.status, built.stdout).toBe(0);
      const folder = mkdtempSync(join(tmpdir(), "docker-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      writeFileSync(
        join(folder, "arsenal.yaml"),
        "server: { host: 0.0.0.0, port: 8080, tokens: { agent: agent-token-of-32-characters-xx } }\n",
        { mode: 0o644 },
      );

      const volume = `${join(folder, "arsenal.yaml")}:/etc/toolarsenal/config.yaml:ro`;
      const safe = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--publish", "127.0.0.1::8080"];
      const started = docker("run", "--detach", ...safe, "--volume", volume, IMAGE);
      expect(started.status, started.stdout).toBe(0);
      const container = started.stdout;
      onTestFinished(() => void docker("rm", "--force", container));
      const health = (): string => docker("inspect", "--format", "{{.State.Health.Status}}", container).stdout;
      await expect.poll(health, { timeout: 120_000, interval: 1_000 }).toBe("healthy");

      const address = docker("port", container, "8080/tcp").stdout.split("\n")[0] ?? "";
      const answer = await fetch(`http://${address}/healthz`);
      expect(answer.status).toBe(200);
      expect(docker("stop", container).status).toBe(0);
      expect(docker("inspect", "--format", "{{.State.ExitCode}}", container).stdout).toBe("0");
    },
    BUILD_MS,
  );
});
