import { marks, words } from "./phrases.ts";
import { allowed, either, type Rule } from "./rule.ts";

const EXPLOIT = words(
  "(exploiting|exploits?|poc for|proof of concept for|abus(es|ing)) (CVE|GHSA)-",
  "(CVE|GHSA)-[\\w-]{6,24} … (exploit|poc)",
  "(CVE|GHSA)-[\\w-]{6,24} … (lets|allows|abuses?) … (unauthenticated|attackers?|anyone|callers?)",
  "(confirmed|achieve|for|allows|unauthenticated) (remote )?(rce|code execution|takeover)",
);

/** Services that watch over a machine. */
const WATCHER =
  "(auditd|rsyslog|falcon-sensor|apparmor|firewalld|ufw|clamav|osqueryd|wazuh|crowdstrike|sshguard|fail2ban)";
const DISARM = words(
  `(systemctl|service) (stop|disable|mask) (--now )?${WATCHER}\\w*`,
  "setenforce 0",
  "ufw disable",
  "iptables -F",
  "(Set|Add)-MpPreference",
  "DisableRealtimeMonitoring",
  "(?<=--)insecure-skip-tls-verify",
  "history -c",
  "unset HISTFILE",
  "chmod (-R )?(777|4755|u?\\+s)(?= /)",
  "sysctl -w kernel\\.(unprivileged|yama|core_pattern|randomize|modules)\\w*",
  "docker run [^\\n]{0,80}(--privileged|-v(?= /:))",
  "kubectl exec -it",
  "nsenter (--target|-t) 1",
  "unshare (--map-root-user|-\\w{0,4}U\\w*)",
  "release_agent",
  "nmap [^\\n]{0,20}\\d{1,3}(\\.\\d{1,3}){3}/\\d{1,2}",
);

/** Options of agents that let a model do anything. */
const UNGUARDED = marks(
  "--dangerously-\\w",
  "dangerously_?(Disable|Skip|Bypass|Ignore)\\w",
  '[\\s="](--)?/?yolo\\b',
  "yolo_mode",
  "approval-mode\\W{1,4}(never|none)",
  "auto_?approve_?all\\w{0,4}\\W{1,6}true",
  "security_confirmation\\w{0,10}=false",
  "--disable-(sandbox|security|approvals)\\b",
  "allowed-tools: ?Bash\\(\\*\\)",
);

const LIMIT =
  "(permissions?|access|security|authorization|authentication|auth|sandbox|approval|audit|privilege|content|safety(?! checks?))";
const CHECK =
  "(checks?|controls?|restrictions?|gates?|verification|boundar(y|ies)|logging|logs|filters?|filtering|moderation|validation)";
const PRIVILEGE = words(
  `(bypass(es|ing)?|circumvent(s|ing)?|skip(s|ping)?|evad(e|es|ing)|disabl(e|es|ing)) ((all|any|the|normal|standard|regular|usual|existing|user) ){0,3}${LIMIT} ${CHECK}`,
  "(full|elevated|unrestricted|root|system[- ]level) (system )?privileges … (without|after|bypass)",
  "(you|agent|assistant)[^.\\n]{1,20}full access to (all|every|any)",
  "(elevate|escalate) ((your|my|the|its) )?privileges",
  "override (your|its) ((current|given) )?(scope|permissions?|access)",
  "(enforcement|guardrails?|policy engine|policy checks) ((is|are|was|were|has been) )?(disabled|bypassed|switched off|turned off)",
  "continuing without (enforcement|policy|guardrails?|authorization)",
);

/** The same, as settings. */
const GRANTED = marks(
  "\\bauth\\w{0,12}_(enabled|required|token)[\"']? ?[:=] ?(false|none|0|\"\"|'')",
  "\\b(enable|require)_auth\\w{0,10} ?= ?(false|0)\\b",
  "(policy|guard|auth|security)\\w{0,12}[\"']?[^\\n]{0,20}\\bfail_?open[\"']? ?[:=] ?true",
  "\\b(is_?admin|admin|superuser)[\"']? ?[=:] ?[\"']?true(?=[&\"'}]|$)",
  "\\brole=(superuser|root)\\b",
  "attach-(user|role|group)-policy [^\\n]{0,120}/AdministratorAccess",
  "__backdoor__",
  "\\braw_exec\\b",
);

/** Ways to more rights than were given: holes, protections switched off, checks gone round. */
export const PRIVILEGE_RULES: readonly Rule[] = [
  {
    id: "command.exploit",
    category: "command",
    severity: "medium",
    message: "Tells how to use a known hole.",
    find: allowed(EXPLOIT),
  },
  {
    id: "command.disarm",
    category: "command",
    severity: "high",
    message: "Switches off a protection, hides traces, or breaks out of a container.",
    find: either(allowed(UNGUARDED), allowed(DISARM), allowed(PRIVILEGE), allowed(GRANTED)),
  },
];
