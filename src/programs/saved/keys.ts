export const SAVED_KEY = "saved-program:";

export const SAVED_TOPIC = "saved-programs";
