import { anyObject, choice, object, text, texts, time } from "./write.ts";

export const TOOLSET = object(
  "A curated view over the catalog.",
  ["name", "description", "tags", "filter", "view", "policy", "createdAt", "updatedAt"],
  {
    name: text("Its name."),
    description: text("What it is for."),
    tags: texts("Words to filter by."),
    owner: text("Who it belongs to. For operators only."),
    filter: anyObject("Which tools it has. Callers without the role operator get the ids of those that they may see."),
    view: choice(["live", "frozen"], "Whether tools that match later appear."),
    policy: anyObject("How much it may be used; for operators, also who may use it."),
    createdAt: time("When the gateway first had it."),
    updatedAt: time("When it was last replaced."),
  },
);
