import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config/load/load-config.ts";
import type { ResolvedConfig } from "../../src/config/load/resolve-config.ts";
import { findProgram } from "../../src/system/find-program.ts";
import { importPeer, peersInstalled } from "../peers/peers.ts";
import { helmProgram } from "../services/helm.ts";
import { loadKubernetesSchema, type Manifest } from "./deploy/kubernetes-schema.ts";
import { has, read, ROOT } from "./project.ts";

/*
 * These tests read the files. `npm run containers` builds and runs the Dockerfile; docs/guides/deployment.md says what was never run.
 */

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
    const started = stages.filter((stage) => stage.some((line) => line.startsWith("ENTRYPOINT ")));
    expect(started.map((stage) => stage.filter((line) => line.startsWith("USER ")))).toEqual([
      ["USER 1000:1000"],
      ["USER 65532:65532"],
    ]);
    expect(last.some((line) => /^HEALTHCHECK .*CMD \["\/nodejs\/bin\/node", .*\/healthz/.test(line))).toBe(true);
  });

  it("takes its base images as arguments, so that `npm run containers` builds the same file on others", () => {
    const froms = stages.map(([from = ""]) => from.split(" ")[1]);
    expect(new Set(froms)).toEqual(new Set(["${NODE_IMAGE}", "${DISTROLESS_IMAGE}", "scratch"]));
    const defaults = read("Dockerfile").match(/^ARG .+$/gm) ?? [];
    expect(defaults.filter((line) => !/^ARG (?:NODE|DISTROLESS)_IMAGE=[^:]+:[\w.-]+$/.test(line))).toEqual([]);
    expect(defaults).toHaveLength(2);
    expect(read("package.json")).toContain('"containers": "node scripts/containers/run.ts"');
  });

  // because the validator is in test/peers
  it.skipIf(!peersInstalled())(
    "has nothing that the validator of the Docker extension for editors reports",
    async () => {
      const { validate } = await importPeer<{ validate(text: string): readonly { readonly message: string }[] }>(
        "dockerfile-utils",
      );
      expect(validate(read("Dockerfile")).map(({ message }) => message)).toEqual([]);
      const wrong = validate("FROM node\nRUNN npm ci\nENTRYPOINT a\nENTRYPOINT b\n");
      expect(wrong.map(({ message }) => message.split(".")[0])).toEqual(
        expect.arrayContaining([
          "Unknown instruction: RUNN",
          "There can only be one ENTRYPOINT instruction in a Dockerfile or build stage",
        ]),
      );
    },
  );

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

const kubectl = helmProgram("kubectl");
if (kubectl === undefined) process.stderr.write("not run: rendering of deploy/kubernetes. There is no kubectl\n");

describe("the Kubernetes manifests", () => {
  const folderName = "deploy/kubernetes";
  const { resources } = parse(read(`${folderName}/kustomization.yaml`)) as { readonly resources: readonly string[] };
  const written = resources.map((name) => parse(read(`${folderName}/${name}`)) as Manifest);
  const deployment = written.find(({ kind }) => kind === "Deployment") as Manifest;
  const { spec } = (deployment["spec"] as { readonly template: { readonly spec: PodSpec } }).template;

  interface PodSpec {
    readonly [key: string]: unknown;
    readonly containers: readonly Readonly<Record<string, unknown>>[];
    readonly volumes: readonly { readonly name: string }[];
    readonly terminationGracePeriodSeconds: number;
  }

  // because the schema comes with a client of Kubernetes, which only test/peers has
  describe.skipIf(!peersInstalled())("against the OpenAPI schema of Kubernetes", () => {
    it("are valid as they are written", async () => {
      const check = await loadKubernetesSchema();
      expect(written.flatMap(check)).toEqual([]);
    });

    it("are checked for unknown members, wrong types and missing members", async () => {
      const check = await loadKubernetesSchema();
      const { metadata } = deployment;
      const template = { spec: { containers: [{ image: "a", ports: [{ containerPort: "8080" }] }], volume: [] } };
      expect(check({ apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { template, replicas: 2 } })).toEqual([
        "Deployment.spec.selector is missing",
        "Deployment.spec.template.spec.containers[0].name is missing",
        "Deployment.spec.template.spec.containers[0].ports[0].containerPort is not a number",
        "Deployment.spec.template.spec.volume is not known",
      ]);
    });

    // because only kubectl renders a kustomization
    it.skipIf(kubectl === undefined)(
      "are rendered by kubectl kustomize, valid, in one namespace, for the pods they make",
      async () => {
        const { status, stdout, stderr } = spawnSync(kubectl ?? "", ["kustomize", resolve(ROOT, folderName)], {
          encoding: "utf8",
        });
        expect([status, stderr]).toEqual([0, ""]);
        const rendered = parseAllDocuments(stdout).map((each) => each.toJS() as Manifest);
        const check = await loadKubernetesSchema();
        expect(rendered.flatMap(check)).toEqual([]);
        expect(rendered.map(({ kind }) => kind).toSorted()).toEqual(
          [...written.map(({ kind }) => kind), "ConfigMap"].toSorted(),
        );
        const label = { "app.kubernetes.io/name": "toolarsenal" };
        const inNamespace = rendered.filter(({ kind }) => kind !== "Namespace");
        for (const { metadata } of inNamespace)
          expect(metadata).toMatchObject({ namespace: "toolarsenal", labels: label });
        const text = JSON.stringify(rendered);
        expect(text.split('"matchLabels":{"app.kubernetes.io/name":"toolarsenal"}')).toHaveLength(5);
        expect(text).not.toContain('"matchLabels":{}');
        const pod = JSON.stringify(rendered.find(({ kind }) => kind === "Deployment"));
        expect(pod).toContain(`"image":"toolarsenal:${packageJson.version}"`);
        const config = rendered.find(({ kind }) => kind === "ConfigMap")?.metadata.name ?? "";
        expect(config).toMatch(/^toolarsenal-\w{10}$/);
        expect(pod).toContain(`"configMap":{"name":"${config}"}`);
      },
    );
  });

  it("run the gateway without rights, without root, and on a read-only file system", () => {
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

  it("hand over a configuration that loads with the variables of the Secret, and stop without cutting off calls", async () => {
    const variables = spec.containers[0]?.["env"] as readonly { readonly name: string; readonly valueFrom: object }[];
    expect(variables[0]?.valueFrom).toEqual({ secretKeyRef: { name: "toolarsenal", key: "database-url" } });
    const names = variables.map(({ name }) => name);
    const config = await load(resolve(ROOT, folderName, "config.yaml"), names);
    expect(config.server).toMatchObject({ host: "0.0.0.0", port: 8080, tokens: { agent: "x".repeat(32) } });
    expect(config.server.allowedHosts).toContain("toolarsenal.toolarsenal.svc");
    expect(endsInTime(config, spec.terminationGracePeriodSeconds)).toBe(true);
  });

  it("keep the cloud's metadata service out of reach", () => {
    const policy = written.find(({ kind }) => kind === "NetworkPolicy");
    expect(policy?.["spec"]).toMatchObject({ policyTypes: ["Ingress", "Egress"] });
    expect(JSON.stringify(policy)).toContain('"except":["169.254.169.254/32"]');
  });
});

describe("the systemd unit", () => {
  const unit = read("deploy/systemd/toolarsenal.service");
  const analyze = findProgram("systemd-analyze");

  it("runs without root or rights, and can write one folder", () => {
    for (const line of ["DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet="])
      expect(unit.split("\n")).toContain(line);
    expect(unit).toMatch(/^MemoryMax=/m);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(60);
  });

  // because systemd is on Linux only, and not in every container
  it.skipIf(analyze === undefined)("is accepted by systemd-analyze verify", () => {
    const file = resolve(ROOT, "deploy/systemd/toolarsenal.service");
    const { status, stderr } = spawnSync(analyze ?? "", ["verify", file], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
});
