import { basename } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { isPlainObject } from "../../../src/tool/json-schema.ts";
import { files, read } from "../project.ts";
import { renderChart } from "./go-template.ts";

export const CHART = "deploy/helm/toolarsenal";

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Record<string, string> };
  readonly spec: never;
  readonly data: Record<string, string>;
}

/** What `helm template RELEASE` makes of the chart, by kind, with other values merged over the chart's own. */
export function renderedChart(given: object = {}, release = "gateway"): ReadonlyMap<string, Manifest> {
  const rendered = renderedFiles(given, release);
  const manifests = Object.entries(rendered)
    .filter(([name]) => name.endsWith(".yaml"))
    .flatMap(([, text]) => parseAllDocuments(text))
    .flatMap((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      const manifest = document.toJS() as Manifest | null;
      return manifest === null ? [] : [manifest];
    });
  return new Map(manifests.map((manifest) => [manifest.kind, manifest]));
}

export function renderedFiles(given: object = {}, release = "gateway"): Record<string, string> {
  const templates = files(`${CHART}/templates/*`).map((path) => [basename(path), read(path)]);
  return renderChart(Object.fromEntries(templates), chartData(given, release));
}

/** What templates see. */
export function chartData(given: object = {}, release = "gateway"): object {
  const { name, version, appVersion } = parse(read(`${CHART}/Chart.yaml`)) as Record<string, string>;
  return {
    Values: merged(parse(read(`${CHART}/values.yaml`)), given),
    Release: { Name: release, Namespace: "tools", Service: "Helm" },
    Chart: { Name: name, Version: version, AppVersion: appVersion },
  };
}

function merged(base: unknown, over: unknown): unknown {
  if (!isPlainObject(base) || !isPlainObject(over)) return over ?? base;
  const keys = [...new Set([...Object.keys(base), ...Object.keys(over)])];
  return Object.fromEntries(keys.map((key) => [key, merged(base[key], over[key])]));
}
