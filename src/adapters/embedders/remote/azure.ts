import type { Embedder } from "../../../catalog/embedder.port.ts";
import { endpoint, type ModelApiSurroundings } from "../../model-api.ts";
import { neededSetting } from "../../needed-setting.ts";
import { object, text } from "../../../tool/shape/shape.ts";
import { OPENAI_DIMENSIONS, openAiProvider } from "./openai.ts";
import { checkOf, createRemoteEmbedder, REMOTE_SETTINGS, type RemoteEmbedderSettings } from "./remote-embedder.ts";

/** The settings of the Azure embedder. */
export interface AzureEmbedderSettings extends RemoteEmbedderSettings {
  /** The name of the deployment. Defaults to the model. */
  readonly deployment?: string;
  /** Defaults to 2024-10-21. */
  readonly apiVersion?: string;
}

/** Embeds with a deployment of Azure OpenAI. */
export function azureEmbedder(settings: AzureEmbedderSettings, surroundings?: ModelApiSurroundings): Embedder {
  const { model = "text-embedding-3-small", apiKey = "env:AZURE_OPENAI_API_KEY", apiBase } = settings;
  const { deployment = model, apiVersion = "2024-10-21" } = settings;
  if (apiBase === undefined) throw neededSetting("embedder.api_base", "azure", needs.apiBase);
  const path = `/openai/deployments/${encodeURIComponent(deployment)}/embeddings`;
  return createRemoteEmbedder(settings, surroundings, {
    ...openAiProvider(model),
    dimensions: OPENAI_DIMENSIONS,
    title: "Azure OpenAI",
    // Azure serves OpenAI's models with the same weights, so their vectors are comparable.
    name: "openai",
    url: endpoint(apiBase, path, { "api-version": apiVersion }),
    apiKey,
    keyHeaders: (key: string) => ({ "api-key": key }),
  });
}

export const needs = { apiBase: "Set it to the resource's endpoint: https://NAME.openai.azure.com." };

export const config = object("A deployment of Azure OpenAI.", {
  ...REMOTE_SETTINGS,
  deployment: text("For azure: the name of the deployment. Defaults to the model."),
  apiVersion: text("For azure: the version of the API. Defaults to 2024-10-21."),
});

export { azureEmbedder as create };

export const check = checkOf(azureEmbedder);
