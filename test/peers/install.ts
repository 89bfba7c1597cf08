/** Installs test/peers as its lock file says, unless that is done already. */
import { installLocked } from "../kit/install-locked.ts";

installLocked(new URL("./", import.meta.url), "test/peers");
