/** The prefix of the documents of runs that have not ended. */
export const OPEN_RUN_KEY = "run-open:";

/** The topic on which processes hear of the runs of others. */
export const RUNS_TOPIC = "runs";
