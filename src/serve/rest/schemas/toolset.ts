import { anything, choice, entry, string, strings, time } from "../../../tool/shape/shape.ts";

export const TOOLSET = entry(
  "A curated view over the catalog.",
  {
    name: string("Its name."),
    description: string("What it is for."),
    tags: strings("Words to filter by."),
    owner: string("Who it belongs to. For operators only."),
    filter: anything("Which tools it has. Callers without the role operator get the ids of those that they may see."),
    view: choice("Whether tools that match later appear.", ["live", "frozen"]),
    policy: anything("How much it may be used; for operators, also who may use it."),
    createdAt: time("When the gateway first had it."),
    updatedAt: time("When it was last replaced."),
  },
  ["name", "description", "tags", "filter", "view", "policy", "createdAt", "updatedAt"],
);
