import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/load/load-config.ts";
import type { ResolvedConfig } from "../../src/config/load/resolve-config.ts";
import { CHART, type Manifest, renderedChart, renderedFiles } from "./deploy/chart.ts";
import { has, read, ROOT } from "./project.ts";

/*
 * No container engine and no Helm is at hand, so these tests read the files themselves. docs/deployment.md says what was never run.
 */

const folder = mkdtempSync(join(tmpdir(), "deploy-"));
afterAll(() => rmSync(folder, { recursive: true }));

const packageJson = JSON.parse(read("package.json")) as {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** Loads a configuration as a container would, with a variable for each name that is set there. */
async function load(path: string, names: readonly string[]): Promise<ResolvedConfig> {
  const valueOf = (name: string): string =>
    name === "REDIS_URL" ? "redis://redis:6379" : name === "DATABASE_URL" ? "postgresql://a:b@c/d" : "x".repeat(32);
  const environment = Object.fromEntries(names.map((name) => [name, valueOf(name)]));
  const { config, problems } = await loadConfig(path, environment);
  expect(problems).toEqual([]);
  return config;
}

/** Calls under way end before the container is killed. */
function endsInTime({ server }: ResolvedConfig, graceS: number): boolean {
  return server.shutdownDelayS > 0 && server.shutdownDelayS + server.drainTimeoutS + 2 <= graceS;
}

describe("the Dockerfile", () => {
  const stages = read("Dockerfile")
    .replaceAll(/\\\n/g, " ")
    .split(/^(?=FROM )/m)
    .slice(1)
    .map((text) => text.split("\n").filter((line) => /^[A-Z]+ /.test(line)));
  const last = stages.at(-1) ?? [];
  const copied = stages
    .flat()
    .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
    .flatMap((line) => line.split(/\s+/).slice(1, -1));

  it("copies what exists and what .dockerignore lets through", () => {
    expect(copied.length).toBeGreaterThan(8);
    expect(copied.filter((path) => !has(path))).toEqual([]);
    const allowed: readonly string[] = read(".dockerignore").match(/(?<=^!).+$/gm) ?? [];
    expect(copied.filter((path) => !allowed.includes(path))).toEqual([]);
    expect([...new Set(allowed)].filter((path) => !copied.includes(path))).toEqual([]);
  });

  it("copies every folder that `npm run build` reads", () => {
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
    const commands = `${scripts["build"]} ${scripts["build:dashboard"]}`;
    const folders = [...commands.matchAll(/(\w+)\/[\w.-]+\.ts/g)].map(([, name = ""]) => name);
    expect(new Set(folders)).toEqual(new Set(["scripts", "dashboard"]));
    expect([...folders, "src"].filter((name) => !copied.includes(name))).toEqual([]);
  });

  it("copies from stages that it has, and runs what the build makes", () => {
    const names = stages.map(([from = ""]) => / AS (\w+)$/.exec(from)?.[1]);
    const sources = stages.flat().flatMap((line) => /--from=(\w+)/.exec(line)?.[1] ?? []);
    expect(sources.filter((name) => !names.includes(name))).toEqual([]);
    expect(read("package.json")).toContain('"toolarsenal": "./dist/cli/main.js"');
    expect(last).toContain('ENTRYPOINT ["/nodejs/bin/node", "/app/dist/cli/main.js"]');
  });

  it("ends in a distroless image that is not root's, has no shell and looks after itself", () => {
    expect(last[0]).toBe("FROM ${DISTROLESS_IMAGE} AS gateway");
    expect(read("Dockerfile")).toContain("\nARG DISTROLESS_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot\n");
    expect(last).toContain("USER 65532:65532");
    expect(last.filter((line) => /^(?:ENTRYPOINT|CMD) (?!\[)/.test(line))).toEqual([]);
    expect(last.some((line) => /^HEALTHCHECK .*CMD \["\/nodejs\/bin\/node", .*\/healthz/.test(line))).toBe(true);
  });

  it("takes its base images as arguments, so that `npm run containers` builds the same file on others", () => {
    const froms = stages.map(([from = ""]) => from.split(" ")[1]);
    expect(new Set(froms)).toEqual(new Set(["${NODE_IMAGE}", "${DISTROLESS_IMAGE}", "scratch"]));
    expect(read("package.json")).toContain('"containers": "node scripts/containers/run.ts"');
  });

  it("has the Node and the clients of databases that the tests ran with", () => {
    const { node = "", pg, redis } = packageJson.devDependencies;
    const text = read("Dockerfile");
    expect(text.match(/(?:node:|nodejs)\d+/g)?.every((image) => image.endsWith(node.split(".")[0] ?? ""))).toBe(true);
    expect(text).toContain(` pg@${pg} redis@${redis} `);
  });
});

describe("compose.yaml", () => {
  interface Service {
    readonly image?: string;
    readonly build?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly volumes?: readonly string[];
    readonly depends_on?: Readonly<Record<string, unknown>>;
    readonly stop_grace_period?: string;
    readonly [key: string]: unknown;
  }
  const { services, volumes } = parse(read("compose.yaml")) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: object;
  };
  const gateway = services["toolarsenal"] ?? {};

  it("has two gateways, PostgreSQL with pgvector, Redis and Prometheus, behind one port of this machine", () => {
    expect(Object.keys(services)).toEqual(["proxy", "toolarsenal", "postgres", "redis", "prometheus"]);
    expect(gateway).toMatchObject({ build: ".", deploy: { replicas: 2 } });
    expect(services["postgres"]?.image).toBe("pgvector/pgvector:pg17");
    const ports = Object.values(services).flatMap((service) => (service.ports ?? []) as readonly string[]);
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  });

  it("gives the gateway nothing that it can write but /data and /tmp, and no rights", () => {
    expect(gateway).toMatchObject({
      read_only: true,
      tmpfs: ["/tmp"],
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
    expect(gateway.volumes?.filter((volume) => !volume.endsWith(":ro"))).toEqual(["data:/data"]);
  });

  it("mounts what exists, names volumes and services that it declares, and pins every image", () => {
    const mounts = Object.values(services).flatMap((service) => service.volumes ?? []);
    const sources = mounts.map((mount) => mount.split(":")[0] ?? "");
    expect(sources.filter((path) => (path.startsWith("./") ? !has(path) : !Object.hasOwn(volumes, path)))).toEqual([]);
    const needed = Object.values(services).flatMap((service) => Object.keys(service.depends_on ?? {}));
    expect(needed.filter((name) => !Object.hasOwn(services, name))).toEqual([]);
    const loose = Object.values(services).filter(
      ({ build, image = "" }) => build === undefined && !/:[^:]*\d/.test(image),
    );
    expect(loose).toEqual([]);
  });

  it("runs a configuration that loads with the variables it sets, and stops without cutting off calls", async () => {
    const config = await load(resolve(ROOT, "deploy/compose/config.yaml"), Object.keys(gateway.environment ?? {}));
    expect(config.vectorStore.type).toBe("postgres");
    expect(config.state).toMatchObject({ type: "postgres", limits: { type: "redis" } });
    expect(config.audit.type).toBe("postgres");
    expect(config.server).toMatchObject({ host: "0.0.0.0", port: 8080 });
    expect(endsInTime(config, Number.parseInt(gateway.stop_grace_period ?? "", 10))).toBe(true);
  });
});

describe("the Helm chart", () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(read(`${CHART}/values.schema.json`)) as object);
  const values = parse(read(`${CHART}/values.yaml`)) as Readonly<Record<string, object>>;

  interface PodSpec {
    readonly [key: string]: unknown;
    readonly containers: readonly Readonly<Record<string, unknown>>[];
    readonly volumes: readonly { readonly name: string }[];
    readonly terminationGracePeriodSeconds: number;
  }
  interface DeploymentSpec {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels: Record<string, string> };
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string>; readonly annotations: Record<string, string> };
      readonly spec: PodSpec;
    };
  }
  const deploymentIn = (manifests: ReadonlyMap<string, Manifest>): DeploymentSpec =>
    manifests.get("Deployment")?.spec as unknown as DeploymentSpec;
  const configIn = (manifests: ReadonlyMap<string, Manifest>): string => {
    const path = join(folder, "chart.yaml");
    writeFileSync(path, manifests.get("ConfigMap")?.data["config.yaml"] ?? "");
    return path;
  };

  it("carries the version of the package", () => {
    expect(parse(read(`${CHART}/Chart.yaml`))).toMatchObject({ name: "toolarsenal", appVersion: packageJson.version });
  });

  it("renders every kind of manifest, in one namespace and with one name", () => {
    const manifests = renderedChart();
    expect([...manifests.keys()].toSorted()).toEqual([
      "ConfigMap",
      "Deployment",
      "HorizontalPodAutoscaler",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "Service",
      "ServiceAccount",
    ]);
    for (const { metadata } of manifests.values())
      expect(metadata).toMatchObject({ name: "gateway-toolarsenal", namespace: "tools" });
    expect(renderedFiles()["NOTES.txt"]).toContain("http://gateway-toolarsenal.tools.svc:8080/mcp");
  });

  it("selects the pods that it makes, everywhere", () => {
    const manifests = renderedChart({ serviceMonitor: { enabled: true } });
    const { labels } = deploymentIn(manifests).template.metadata;
    const selectors = [...manifests.values()].flatMap(({ kind, spec }) => {
      const { selector, podSelector } = (spec ?? {}) as Record<string, { readonly matchLabels?: object } | undefined>;
      const chosen = podSelector ?? selector;
      return chosen === undefined ? [] : [[kind, chosen.matchLabels ?? chosen] as const];
    });
    expect(selectors.map(([kind]) => kind).toSorted()).toEqual([
      "Deployment",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "Service",
      "ServiceMonitor",
    ]);
    for (const [, selector] of selectors) expect(labels).toMatchObject(selector);
    expect(manifests.get("HorizontalPodAutoscaler")?.spec).toMatchObject({
      scaleTargetRef: { kind: "Deployment", name: "gateway-toolarsenal" },
    });
  });

  it("runs the gateway without rights, without root, and on a read-only file system", () => {
    const { spec } = deploymentIn(renderedChart()).template;
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          startupProbe: { httpGet: { path: "/healthz", port: "http" } },
          livenessProbe: { httpGet: { path: "/healthz", port: "http" } },
          readinessProbe: { httpGet: { path: "/readyz", port: "http" } },
          ports: [{ name: "http", containerPort: 8080 }],
        },
      ],
    });
    const mounts = spec.containers[0]?.["volumeMounts"] as readonly {
      readonly name: string;
      readonly mountPath: string;
    }[];
    expect(mounts.map(({ mountPath }) => mountPath)).toEqual(["/etc/toolarsenal", "/data", "/tmp"]);
    expect(mounts.map(({ name }) => name)).toEqual(spec.volumes.map(({ name }) => name));
  });

  it("hands over a configuration that loads with the variables of its Secrets, and stops without cutting off calls", async () => {
    const manifests = renderedChart({ allowedHosts: ["tools.example.com"] });
    const { spec } = deploymentIn(manifests).template;
    const variables = spec.containers[0]?.["env"] as readonly { readonly name: string; readonly valueFrom: object }[];
    expect(variables[0]?.valueFrom).toEqual({ secretKeyRef: { name: "toolarsenal", key: "database-url" } });
    const config = await load(
      configIn(manifests),
      variables.map(({ name }) => name),
    );
    expect(config.server).toMatchObject({ host: "0.0.0.0", port: 8080, tokens: { agent: "x".repeat(32) } });
    expect(config.server.allowedHosts).toContain("gateway-toolarsenal.tools.svc");
    expect(config.server.allowedHosts).toContain("tools.example.com");
    expect(endsInTime(config, spec.terminationGracePeriodSeconds)).toBe(true);
  });

  it("starts new pods if the configuration changes, and only then", () => {
    const sum = (given: object): string | undefined =>
      deploymentIn(renderedChart(given)).template.metadata.annotations["checksum/config"];
    expect(sum({})).toMatch(/^[0-9a-f]{64}$/);
    expect(sum({ replicaCount: 9 })).toBe(sum({}));
    expect(sum({ config: { telemetry: { level: "error" } } })).not.toBe(sum({}));
  });

  it("leaves out what is turned off", () => {
    const off = { enabled: false };
    const manifests = renderedChart({ autoscaling: off, podDisruptionBudget: off, networkPolicy: off });
    expect([...manifests.keys()].toSorted()).toEqual(["ConfigMap", "Deployment", "Service", "ServiceAccount"]);
    expect(deploymentIn(manifests).replicas).toBe(2);
    expect(deploymentIn(renderedChart())).not.toHaveProperty("replicas");
  });

  it("keeps the cloud's metadata service out of reach, and lets in who is named", () => {
    const spec = renderedChart({ networkPolicy: { ingressFrom: [{ podSelector: {} }] } }).get("NetworkPolicy")
      ?.spec as unknown;
    expect(spec).toMatchObject({
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ ports: [{ port: "http" }], from: [{ podSelector: {} }] }],
    });
    expect(JSON.stringify(spec)).toContain('"except":["169.254.169.254/32"]');
  });

  it.each([
    ["its own values", values, true],
    ["a value that it does not have", { ...values, replicas: 3 }, false],
    ["a port that is the chart's to set", { ...values, config: { server: { port: 9 } } }, false],
    ["a secret without its key", { ...values, secretEnv: [{ name: "A", secret: "b" }] }, false],
    ["no image", { ...values, image: {} }, false],
  ])("checks values: %s", (_what, given, isValid) => {
    expect(validate(given)).toBe(isValid);
  });
});
