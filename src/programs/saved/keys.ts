/** The prefix of the documents of saved programs in the shared state. */
export const SAVED_KEY = "saved-program:";

/** The topic on which processes hear of changes to saved programs. */
export const SAVED_TOPIC = "saved-programs";
