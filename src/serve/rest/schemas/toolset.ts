import { anyObject, choice, object, text, texts, time } from "./write.ts";

export const TOOLSET = object(
  "A curated view over the catalog.",
  {
    name: text("Its name."),
    description: text("What it is for."),
    tags: texts("Words to filter by."),
    owner: text("Who it belongs to."),
    filter: anyObject("Which tools it has."),
    view: choice(["live", "frozen"], "Whether tools that match later appear."),
    policy: anyObject("Who may use it, and how much."),
    createdAt: time("When the gateway first had it."),
    updatedAt: time("When it was last replaced."),
  },
  ["name", "description", "tags", "filter", "view", "policy", "createdAt", "updatedAt"],
);
