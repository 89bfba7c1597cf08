import { wordsOf } from "./words.ts";

/** True if a clause asks for something: it orders, asks, or says what is wanted. "The queue feels slow." only sets the scene. */
export function isWish(clause: string): boolean {
  return isOrderOrQuestion(clause) || clause.trimEnd().endsWith("?") || WANTED.test(clause);
}

/** True if a text begins as a wish would, or with who wants something: where two clauses meet, the second starts here. */
export function startsClause(text: string): boolean {
  return isOrderOrQuestion(text) || PEOPLE.test(text);
}

function isOrderOrQuestion(text: string): boolean {
  const words = wordsOf(text.slice(0, READ_LENGTH));
  const at = words.findIndex((word) => !LEAD_INS.has(word));
  const first = words[at] ?? "";
  return (ACTIONS.has(first) || QUESTIONS.has(first)) && words.length > at + 1;
}

/** More of a clause is not needed to see how it begins. */
const READ_LENGTH = 80;

const PEOPLE = /^(?:i|we|you)\b/iu;

/** What people say before they say what they want. */
const LEAD_INS: ReadonlySet<string> = new Set(
  "please pls also just so ok okay and but then next now first second third finally maybe hey hi lastly afterwards quickly actually oh to".split(
    " ",
  ),
);

/** Words a question begins with. */
const QUESTIONS: ReadonlySet<string> = new Set(
  `what whats which who whos whom whose where wheres when whens why how hows is are am was were do does did has have can could would will
  should any anything`.split(/\s+/),
);

const WANTED =
  /\b(?:(?:can|could|would|will) (?:you|we|i|someone)|(?:i|we)(?: would|['’]d)?(?: also)? (?:need|want|wanna|like|love|wish|hope|prefer|must)|let me know|help me|please|let['’]?s)\b/iu;

/** Verbs of orders, as people give them. */
const ACTIONS: ReadonlySet<string> = new Set(
  `abort accept activate add adjust aggregate analyse analyze animate answer append apply approve archive arrange ask assess assign attach
  authenticate back block book bookmark boot break bring browse build buy calculate call cancel capture change charge chart check choose
  clean clear click clone close collect combine comment commit compare compile complete compose compress compute configure confirm connect
  contact convert copy count crawl create crop cross cut deactivate debug decode decrypt define delete deploy describe detect determine
  diagnose disable disconnect discover display dispatch distribute dive divide do double download draft draw drop dump duplicate echo edit
  email empty enable encode encrypt end enrich ensure enter erase estimate evaluate examine execute expand explain explore export extract
  fetch figure fill filter find fire fix flag follow forecast format forward fund gather generate geocode get give go grab grant group
  hand handle have hide hit hook identify import include increase index inform insert inspect install invite invoke issue join keep kick
  kill label launch leave let limit link list load locate lock log look lookup make map mark match measure merge message mint modify
  monitor move mute name navigate note notify obtain offer open optimize order organize outline pass paste patch pause pay perform
  pick pin ping plan play plot point post predict prepare press print process promote provide publish pull purchase purge push put
  query queue quote raise rank reach read rebuild recommend reconnect record recover redeploy redo reduce refresh refund register
  reject release reload remember remind remove rename render renew repeat replace reply report request reschedule research reserve reset
  resize resolve respond restart restore resume retrieve return reverse revert review revoke rewrite roll rotate run save say scan
  schedule scrape screenshot search see select sell send separate set settle share ship show shut sign simulate skip solve sort spin split
  star start stop store stream submit subscribe suggest sum summarise summarize suspend swap switch sync tag take talk tell test text throw
  tidy toggle trace track trade train transcribe transfer translate trash trigger trim try tune turn unblock undo uninstall unlock
  unpin unsubscribe update upgrade upload upscale use validate verify view visit vote wait wake walk watch wipe withdraw wrap write zip zoom`.split(
    /\s+/,
  ),
);
