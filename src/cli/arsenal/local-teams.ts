import { systemClock } from "../../observe/clock.ts";
import type { SharedState } from "../../state/shared-state.ts";
import { createTeamAdministration, type TeamAdministration } from "../../teams/team-administration.ts";
import { createTeamRecords } from "../../teams/team-records.ts";

/** The tenants, members and keys in a state that the command opened. */
export function localTeams(state: SharedState): TeamAdministration {
  return createTeamAdministration({
    records: createTeamRecords(state),
    state,
    limits: state.limits,
    clock: systemClock,
    flushUsage: async () => {},
  });
}
