import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { importPeer } from "../../peers/peers.ts";

/** An object of Kubernetes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly [section: string]: unknown;
}

type Attribute = { readonly name: string; readonly baseName: string; readonly type: string };
type Models = Readonly<Record<string, { getAttributeTypeMap?(): readonly Attribute[] } | undefined>>;

const GENERATED = "@kubernetes/client-node/dist/gen/models";
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  string: ["string"],
  number: ["number"],
  boolean: ["boolean"],
  IntOrString: ["string", "number"],
};

/** The kinds of our manifests, with the models that the official client generates from the OpenAPI document of Kubernetes. */
const MODELS: Readonly<Record<string, string>> = {
  "v1 ConfigMap": "V1ConfigMap",
  "v1 Namespace": "V1Namespace",
  "v1 Service": "V1Service",
  "v1 ServiceAccount": "V1ServiceAccount",
  "apps/v1 Deployment": "V1Deployment",
  "autoscaling/v2 HorizontalPodAutoscaler": "V2HorizontalPodAutoscaler",
  "networking.k8s.io/v1 Ingress": "V1Ingress",
  "networking.k8s.io/v1 NetworkPolicy": "V1NetworkPolicy",
  "policy/v1 PodDisruptionBudget": "V1PodDisruptionBudget",
};

/** Loads a check of manifests against the OpenAPI document of Kubernetes: unknown members, wrong types and missing members, by their path. */
export async function loadKubernetesSchema(): Promise<(manifest: Manifest) => readonly string[]> {
  const models = await importPeer<Models>("@kubernetes/client-node");

  /** The client keeps at run time which members exist, and in its declarations which of them must. */
  function requiredIn(model: string): ReadonlySet<string> {
    const peers = new URL(`../../peers/node_modules/${GENERATED}/${model}.d.ts`, import.meta.url);
    const text = readFileSync(fileURLToPath(peers), "utf8");
    return new Set([...text.matchAll(/^ {4}'(\w+)': /gm)].map(([, name = ""]) => name));
  }

  function problemsOf(value: unknown, type: string, path: string): readonly string[] {
    const [, item] = /^Array<(.+)>$/.exec(type) ?? [];
    if (item !== undefined)
      return Array.isArray(value)
        ? value.flatMap((each, index) => problemsOf(each, item, `${path}[${index}]`))
        : [`${path} is not a list`];
    const plain = PLAIN[type];
    if (plain !== undefined) return plain.includes(typeof value) ? [] : [`${path} is not a ${type}`];
    if (typeof value !== "object" || value === null) return [`${path} is not an object`];
    const [, member] = /^\{ \[key: string\]: (.+); \}$/.exec(type) ?? [];
    if (member !== undefined)
      return Object.entries(value).flatMap(([key, each]) => problemsOf(each, member, `${path}.${key}`));
    const attributes = models[type]?.getAttributeTypeMap?.();
    if (attributes === undefined) return [`${path} has the type ${type}, which is not known`];
    const required = requiredIn(type);
    const missing = attributes.filter(({ name, baseName }) => required.has(name) && !Object.hasOwn(value, baseName));
    return [
      ...missing.map(({ baseName }) => `${path}.${baseName} is missing`),
      ...Object.entries(value).flatMap(([key, each]) => {
        const attribute = attributes.find(({ baseName }) => baseName === key);
        return attribute === undefined
          ? [`${path}.${key} is not known`]
          : problemsOf(each, attribute.type, `${path}.${key}`);
      }),
    ];
  }

  return (manifest) => {
    const kind = `${manifest.apiVersion} ${manifest.kind}`;
    const model = MODELS[kind];
    return model === undefined ? [`${kind} is not a kind that is checked`] : problemsOf(manifest, model, manifest.kind);
  };
}
