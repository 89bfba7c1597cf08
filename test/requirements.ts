import type { Requirement } from "./requirements/requirement.ts";
import { models } from "./requirements/seed-000-models.ts";
import { operations } from "./requirements/seed-000-operations.ts";
import { routingToExecution } from "./requirements/seed-000-path.ts";
import { ensembles } from "./requirements/seed-001.ts";
import { toolService } from "./requirements/seed-002.ts";
import { toolsets } from "./requirements/seed-003.ts";
import { armaments } from "./requirements/seed-004.ts";

export type { Requirement } from "./requirements/requirement.ts";

/** Every requirement of the five source documents, as data. A gate holds the tests to it. */
export const requirements: readonly Requirement[] = [
  ...models,
  ...routingToExecution,
  ...operations,
  ...ensembles,
  ...toolService,
  ...toolsets,
  ...armaments,
];
