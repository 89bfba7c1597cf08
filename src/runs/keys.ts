export const OPEN_RUN_KEY = "run-open:";

/** The topic for messages about runs between processes. */
export const RUNS_TOPIC = "runs";
