import { wordSet } from "./words.ts";

/** Whether an action only reads, changes something, or processes its input. */
type ActionKind = "read" | "write" | "work";

/** Verbs with nearly the same meaning, after the kind of their group. A verb in several groups belongs to the first. */
const GROUPS = {
  list: "read | list enumerate browse index",
  get: "read | get show read view fetch retrieve see display tell describe load inspect pull print return grab know obtain give access details info status",
  find: "read | find search look query discover locate lookup filter match seek explore scan recommend suggest",
  check: "read | check verify validate test confirm ensure ping diagnose monitor audit lint review inspect",
  count: "read | count measure total",
  compare: "read | compare diff contrast",
  analyse:
    "read | analyze analyse evaluate assess explain summarize summarise examine profile interpret rate rank score study investigate",
  compute:
    "work | calculate compute solve estimate predict forecast simulate simplify multiply divide subtract sum integrate sqrt optimize optimise",
  convert:
    "work | convert burn translate transform format parse encode decode transcribe extract render compress resize crop transpose turn encrypt decrypt",
  draw: "work | draw plot chart visualize visualise paint sketch illustrate design imagine",
  generate: "work | generate compose draft write produce synthesize",
  create:
    "write | create add make new insert register build append place attach enter provision define record compose log put raise initialize init clone fork duplicate copy save store remember note jot keep file establish construct import ingest",
  delete:
    "write | delete remove drop erase clear purge discard wipe bin trash destroy uninstall unlink detach clean throw prune flush forget eliminate",
  cancel: "write | cancel abort revoke void withdraw rollback terminate kill stop halt end close quit",
  update:
    "write | update change edit modify set adjust replace fix correct alter patch configure rewrite refresh increase decrease raise lower extend shorten bump",
  rename: "write | rename retitle relabel",
  move: "write | move transfer migrate relocate shift drag carry reorder sort swap archive",
  restore: "write | restore recover unarchive undelete reopen reinstate undo revert reverse unban untag resubscribe",
  send: "write | send post share notify email mail message text tweet reply comment forward respond answer publish broadcast announce submit request dm ring call dial phone remind alert warn speak say",
  invite: "write | invite onboard enrol enroll",
  schedule: "write | schedule plan postpone reschedule delay snooze",
  book: "write | book reserve rsvp",
  buy: "write | claim spend redeem cash buy order purchase pay sell trade swap exchange deposit stake bid donate tip refund charge invoice transfer mint airdrop lend borrow withdraw renew checkout",
  follow:
    "write | follow subscribe watch star like upvote favourite favorite bookmark pin vote unfollow unsubscribe mute block unblock report flag",
  export: "work | export download backup dump",
  upload: "write | upload push sync load",
  approve: "write | approve accept reject decline deny sign authorize authorise confirm acknowledge",
  assign: "write | assign delegate allocate reassign",
  tag: "write | tag label mark categorize classify annotate tick complete finish check resolve",
  merge: "write | merge combine join concatenate split rebase squash commit",
  run: "write | retry rerun rescan retest train tune run execute start launch trigger invoke perform activate evaluate exec kick",
  deploy: "write | deploy release install publish host ship roll promote upgrade scale restart reboot boot",
  pause: "write | pause resume suspend freeze hold unpause skip",
  switch:
    "write | silence arm switch enable disable turn toggle lock unlock dim mute activate deactivate connect disconnect login logout authenticate",
  grant: "write | grant permit allow restrict ban kick protect",
  play: "write | play listen stream cast",
  click: "write | click press type hover tap scroll navigate open visit go drag select",
  track: "read | track follow trace",
  capture: "work | capture screenshot record scrape crawl snap photograph",
} as const;

export type VerbGroupName = keyof typeof GROUPS;

/** Groups that can replace each other: a user's "create" may be a tool's "upload" or "send". All groups that read are related. */
const RELATED: Readonly<Partial<Record<VerbGroupName, string>>> = {
  create: "upload send generate invite schedule book buy deploy",
  update: "rename tag move switch assign pause cancel restore create",
  delete: "cancel move",
  cancel: "delete update pause",
  rename: "update",
  send: "create buy",
  buy: "send move create",
  upload: "create send",
  export: "get convert capture",
  convert: "export generate",
  draw: "generate create convert",
  generate: "create draw convert compute",
  compute: "get analyse generate",
  run: "deploy click play",
  deploy: "run create update",
  pause: "cancel update switch play",
  switch: "update run",
  follow: "create tag",
  tag: "update create",
  move: "update send buy",
  restore: "update",
  schedule: "create update book send",
  book: "create schedule buy",
  invite: "create send grant",
  approve: "update send tag",
  assign: "update",
  merge: "update create",
  grant: "update create invite delete",
  play: "run switch pause",
  click: "run get",
  capture: "get create export",
};

/** Every group's name, in a fixed order. */
export const VERB_GROUPS: readonly VerbGroupName[] = Object.keys(GROUPS) as VerbGroupName[];

const GROUP_OF: ReadonlyMap<string, VerbGroupName> = new Map(
  VERB_GROUPS.toReversed().flatMap((group) =>
    (GROUPS[group].split(" | ")[1]?.split(" ") ?? []).map((verb) => [verb, group] as const),
  ),
);

const KIND_OF: ReadonlyMap<VerbGroupName, ActionKind> = new Map(
  VERB_GROUPS.map((group) => [group, GROUPS[group].split(" | ", 1)[0] as ActionKind]),
);

/** Returns the group of a verb in its base form; undefined for an unknown verb. */
export function verbGroupOf(verb: string): VerbGroupName | undefined {
  return GROUP_OF.get(verb);
}

export function kindOf(group: VerbGroupName): ActionKind {
  return KIND_OF.get(group) ?? "work";
}

/** Groups with opposite actions. A tool of one group does not serve a request for the other. */
const OPPOSITES = wordSet(
  "create-delete create-restore delete-restore cancel-restore move-restore upload-export run-cancel run-pause tag-delete follow-delete invite-delete book-cancel buy-cancel schedule-cancel export-restore",
);

export function areOpposed(asked: VerbGroupName, offered: VerbGroupName): boolean {
  return OPPOSITES.has(`${asked}-${offered}`) || OPPOSITES.has(`${offered}-${asked}`);
}

const RELATIONS = new Map(Object.entries(RELATED).map(([group, others]) => [group, wordSet(others)]));

/** Returns whether a tool of one group can serve a request for the other. */
export function areRelated(asked: VerbGroupName, offered: VerbGroupName): boolean {
  if (asked === offered || (kindOf(asked) === "read" && kindOf(offered) === "read")) return true;
  return RELATIONS.get(asked)?.has(offered) ?? false;
}
