export const SAVED_KEY = "saved-program:";

/** The topic for changes to saved programs. */
export const SAVED_TOPIC = "saved-programs";
