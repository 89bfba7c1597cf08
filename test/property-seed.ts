import { configureGlobal } from "fast-check";

/** Property tests try the same cases every time, so that a change is to blame where one fails. `FAST_CHECK_SEED=…` tries others. */
configureGlobal({ seed: Number(process.env["FAST_CHECK_SEED"] ?? 20_260_728) });
