/** Words that do not distinguish tools: articles, pronouns, auxiliaries, and polite phrases. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an and any are aren as at be been being but by can could couldn did didn do does doesn doing don for from
   had has have having he her hers him his how i if in into is isn it its just ll me my no nor not of off on or our ours
   please re s she should so some such t than that the their them then there these they this those to too
   us ve very was wasn we were what when where which while who whom why will with would you your yours am m d
   want need like help let give now many much about know tell`.split(/\s+/),
);
