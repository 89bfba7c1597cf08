/** The way through the docs: four doors, each with its pages in the order to read them. */
export interface Door {
  readonly name: string;
  /** Who is meant, and what the pages answer. */
  readonly about: string;
  readonly groups: readonly { readonly title: string; readonly pages: readonly string[] }[];
}

export const DOORS: readonly Door[] = [
  {
    name: "Start",
    about: "For your first hour: a program, a gateway, or your framework.",
    groups: [
      { title: "Five minutes", pages: ["start/library", "start/gateway", "start/framework"] },
      { title: "After that", pages: ["start/questions", "start/tour"] },
    ],
  },
  {
    name: "Guides",
    about: "For a job that you have to do.",
    groups: [
      {
        title: "By job",
        pages: [
          "guides/cut-prompt-tokens",
          "guides/desktop-clients",
          "guides/openapi-service",
          "guides/limit-who-may-call",
          "guides/approve-calls",
          "guides/keep-secrets",
          "guides/why-this-tool",
          "guides/improve-retrieval",
          "guides/code-mode-and-workflows",
          "guides/share-a-gateway",
          "guides/run-replicas",
          "guides/add-an-adapter",
          "guides/poisoned-server",
        ],
      },
      {
        title: "Tools",
        pages: [
          "guides/tools",
          "guides/tools-from-files",
          "guides/ensembles",
          "guides/toolsets",
          "guides/workflows",
          "guides/code-mode",
          "guides/dialects",
          "guides/provider-search",
        ],
      },
      {
        title: "Agents",
        pages: [
          "guides/agents",
          "guides/agent-loop",
          "guides/integrations/README",
          "guides/conversations",
          "guides/effect",
          "guides/client",
          "guides/python",
        ],
      },
      {
        title: "Trust",
        pages: [
          "guides/policy",
          "guides/approvals",
          "guides/pins",
          "guides/scanning",
          "guides/secrets",
          "guides/egress",
          "guides/sandboxes",
          "guides/audit",
        ],
      },
      { title: "Ranking", pages: ["guides/evaluation", "guides/vector-databases"] },
      {
        title: "Operations",
        pages: [
          "guides/gateway",
          "guides/deployment",
          "guides/operating",
          "guides/replicas",
          "guides/backup",
          "guides/upgrading",
          "guides/observability",
          "guides/dashboard",
          "guides/registry",
          "guides/from-other-gateways",
          "guides/bundles",
          "guides/connections",
          "guides/teams",
          "guides/surfaces",
        ],
      },
      {
        title: "Walkthroughs",
        pages: [
          "guides/walkthroughs/support-desk",
          "guides/walkthroughs/eight-servers",
          "guides/walkthroughs/api-agent",
        ],
      },
    ],
  },
  {
    name: "Concepts",
    about: "For understanding why it behaves as it does.",
    groups: [
      {
        title: "Concepts",
        pages: [
          "concepts/path",
          "concepts/scoring-example",
          "concepts/tiers",
          "concepts/mcp-eras",
          "concepts/schema-losses",
          "concepts/trust-model",
          "concepts/state-and-replicas",
          "concepts/failure-modes",
          "concepts/comparison",
          "concepts/figures",
          "concepts/retrieval",
          "concepts/execution",
          "concepts/security",
          "concepts/identity",
          "concepts/state",
          "concepts/extensions",
        ],
      },
    ],
  },
  {
    name: "Reference",
    about: "For looking something up.",
    groups: [
      {
        title: "Reference",
        pages: [
          "reference/configuration",
          "reference/command-line",
          "reference/rest",
          "reference/a2a",
          "reference/errors",
          "reference/events",
          "reference/adapters/README",
          "reference/api/README",
          "reference/examples",
        ],
      },
      {
        title: "The package",
        pages: [
          "reference/exports",
          "reference/versions",
          "reference/runtimes",
          "reference/requirements",
          "reference/changes-before-release",
        ],
      },
    ],
  },
];
