import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config/load/load-config.ts";
import { peersInstalled } from "../peers/peers.ts";
import { helmMissing, helmProgram } from "../services/helm.ts";
import { loadKubernetesSchema, type Manifest } from "./deploy/kubernetes-schema.ts";
import { read, ROOT } from "./project.ts";

const CHART = "deploy/helm/toolarsenal";
const { version } = JSON.parse(read("package.json")) as { readonly version: string };

interface Output {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: "helm" | "kubectl", ...parameters: readonly string[]): Output {
  return spawnSync(helmProgram(program) ?? program, parameters, { cwd: ROOT, encoding: "utf8" });
}

/** The objects that the chart renders with `--set` values. */
function render(...values: readonly string[]): readonly Manifest[] {
  const set = values.flatMap((value) => ["--set-json", value]);
  const { status, stdout, stderr } = run(
    "helm",
    "template",
    "toolarsenal",
    CHART,
    "--namespace",
    "toolarsenal",
    ...set,
  );
  expect([status, stderr]).toEqual([0, ""]);
  return objectsIn(stdout);
}

const objectsIn = (text: string): readonly Manifest[] =>
  parseAllDocuments(text)
    .map((each) => each.toJS() as Manifest | null)
    .filter((each) => each !== null);

const ofKind = (objects: readonly Manifest[], kind: string): Manifest | undefined =>
  objects.find((each) => each.kind === kind);

/** An object without what only Helm or only kustomize adds: labels of the release, the checksum, the hash in a name, and the order of variables. */
function comparable(object: Manifest): unknown {
  return JSON.parse(JSON.stringify(object), (key, value: unknown) => {
    if (/^(?:helm\.sh\/chart|checksum\/config)$|^app\.kubernetes\.io\/(?:instance|version|managed-by)$/.test(key))
      return undefined;
    if (key === "annotations" && Object.keys(value as object).length === 0) return undefined;
    if (key === "config.yaml") return parse(String(value)) as unknown;
    if (key === "env") return (value as readonly { name: string }[]).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return key === "name" && typeof value === "string" ? value.replace(/^toolarsenal-\w{10}$/, "toolarsenal") : value;
  });
}

const byKind = (a: Manifest, b: Manifest): number => (a.kind < b.kind ? -1 : 1);

describe("the Helm chart", () => {
  it("has the version of the package", () => {
    expect(parse(read(`${CHART}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  });

  // because the programs may be missing, which is printed, and an error in CI
  describe.skipIf(helmMissing() !== undefined)("rendered by Helm", () => {
    it("passes helm lint", () => {
      const { status, stdout } = run("helm", "lint", "--strict", CHART);
      expect(status, stdout).toBe(0);
    });

    it("has the objects of deploy/kubernetes, without the namespace", () => {
      const { status, stdout, stderr } = run("kubectl", "kustomize", "deploy/kubernetes");
      expect([status, stderr]).toEqual([0, ""]);
      const wanted = objectsIn(stdout).filter(({ kind }) => kind !== "Namespace");
      expect(wanted).toHaveLength(7);
      expect(render().toSorted(byKind).map(comparable)).toEqual(wanted.toSorted(byKind).map(comparable));
    });

    it("starts new pods if the configuration changes, and only then", () => {
      const checksum = (...values: readonly string[]): unknown =>
        /"checksum\/config":"(\w+)"/.exec(JSON.stringify(ofKind(render(...values), "Deployment")))?.[1];
      expect(checksum("replicas=3")).toBe(checksum());
      expect(checksum('config.telemetry.level="debug"')).not.toBe(checksum());
    });

    it("hands over a configuration that loads, with the values of the user merged into it", async () => {
      const folder = mkdtempSync(join(tmpdir(), "helm-"));
      const map = ofKind(render("config.server.drain_timeout_s=20"), "ConfigMap");
      const text = (map?.["data"] as Readonly<Record<string, string>> | undefined)?.["config.yaml"] ?? "";
      writeFileSync(join(folder, "config.yaml"), text);
      const { config, problems } = await loadConfig(join(folder, "config.yaml"), {
        DATABASE_URL: "postgresql://a:b@c/d",
        REDIS_URL: "redis://redis:6379",
        AGENT_TOKEN: "x".repeat(32),
        AUDIT_SECRET: "y".repeat(32),
      });
      rmSync(folder, { recursive: true, force: true });
      expect(problems).toEqual([]);
      expect(config.server).toMatchObject({ host: "0.0.0.0", shutdownDelayS: 10, drainTimeoutS: 20 });
      expect(config.server.allowedHosts).toContain("toolarsenal.toolarsenal.svc");
    });

    it("turns parts off and on: no autoscaler, budget and network policy, but an ingress that the gateway accepts", () => {
      const objects = render(
        "replicas=3",
        "autoscaler.enabled=false",
        "disruptionBudget.enabled=false",
        "networkPolicy.enabled=false",
        'ingress={"enabled":true,"className":"nginx","hosts":["tools.example.com"],"tlsSecret":"tools-tls"}',
      );
      expect(objects.map(({ kind }) => kind).toSorted()).toEqual([
        "ConfigMap",
        "Deployment",
        "Ingress",
        "Service",
        "ServiceAccount",
      ]);
      expect(ofKind(objects, "Deployment")).toMatchObject({ spec: { replicas: 3 } });
      expect(ofKind(objects, "Ingress")).toMatchObject({
        spec: {
          ingressClassName: "nginx",
          tls: [{ secretName: "tools-tls", hosts: ["tools.example.com"] }],
          rules: [{ host: "tools.example.com" }],
        },
      });
      expect(JSON.stringify(ofKind(objects, "ConfigMap"))).toContain("- tools.example.com");
    });

    it("takes the values that the guide shows", () => {
      const [, text = ""] = /```yaml\n# my-values\.yaml\n([^]*?)```/.exec(read("docs/guides/deployment.md")) ?? [];
      const values = Object.entries(parse(text) as object).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
      const objects = render(...values);
      expect(ofKind(objects, "Ingress")).toMatchObject({ spec: { rules: [{ host: "tools.example.com" }] } });
      expect(JSON.stringify(ofKind(objects, "ConfigMap"))).toContain("- name: github");
    });

    it.each([
      ["a value that the chart does not have", "replica=3", "additional properties 'replica' not allowed"],
      ["an ingress without a host", "ingress.enabled=true", "minItems: got 0, want 1"],
      ["a wrong type", 'autoscaler.minReplicas="two"', "got string, want integer"],
    ])("refuses %s", (_, value, message) => {
      const { status, stderr } = run("helm", "template", "toolarsenal", CHART, "--set-json", value);
      expect(status).not.toBe(0);
      expect(stderr).toContain(message);
    });

    // because the schema comes with a client of Kubernetes, which only test/peers has
    it.skipIf(!peersInstalled())("is valid by the OpenAPI schema of Kubernetes, with every value in use", async () => {
      const check = await loadKubernetesSchema();
      const everything = [
        "autoscaler.enabled=false",
        'image={"repository":"registry.example.com/toolarsenal","tag":"1.2.3","pullPolicy":"Always","pullSecrets":["key"]}',
        'env=[{"name":"LOG","value":"1"}]',
        'ingress={"enabled":true,"annotations":{"a":"b"},"hosts":["tools.example.com"],"tlsSecret":"tools-tls"}',
        'networkPolicy={"from":[{"podSelector":{}}],"egress":[{"ports":[{"port":8443}]}]}',
        'service={"type":"LoadBalancer","annotations":{"a":"b"}}',
        'serviceAccount.annotations={"a":"b"}',
        'podAnnotations={"a":"b"}',
        'nodeSelector={"a":"b"}',
        'tolerations=[{"key":"a","operator":"Exists"}]',
        'affinity={"nodeAffinity":{}}',
      ];
      expect([...render(), ...render(...everything)].flatMap(check)).toEqual([]);
      const pod = JSON.stringify(ofKind(render(...everything), "Deployment"));
      for (const text of ['"image":"registry.example.com/toolarsenal:1.2.3"', '"name":"LOG"', '"tolerations"'])
        expect(pod).toContain(text);
    });
  });
});
