/** A question of a new user: the section that answers it, where it leads, and the words of somebody who asks in another way. */
export interface Question {
  readonly question: string;
  /** The page and the section that the answer leads to. */
  readonly leadsTo: string;
  readonly otherWords: string;
}

/** The page with the short answers. */
export const ANSWERS = "start/questions.html";

export const QUESTIONS: readonly Question[] = [
  {
    question: "How do I limit who may call a tool?",
    leadsTo: "guides/limit-who-may-call.html#write-the-rules",
    otherWords: "limit who may call tool",
  },
  {
    question: "Where are my keys stored?",
    leadsTo: "guides/keep-secrets.html#where-keys-are-stored",
    otherWords: "where are keys stored",
  },
  {
    question: "Why was this tool not found?",
    leadsTo: "guides/why-this-tool.html#why-was-this-tool-not-found",
    otherWords: "why tool not found",
  },
  {
    question: "How do I see what an agent did yesterday?",
    leadsTo: "guides/share-a-gateway.html#see-what-an-agent-did-yesterday",
    otherWords: "agent did yesterday",
  },
  {
    question: "What happens if the gateway dies in the middle of a call?",
    leadsTo: "concepts/failure-modes.html#what-happens-if-the-gateway-dies-in-the-middle-of-a-call",
    otherWords: "gateway dies during call",
  },
  {
    question: "How do I use it with LangChain?",
    leadsTo: "guides/integrations/langchain.html",
    otherWords: "langchain",
  },
  {
    question: "Can two replicas share approvals?",
    leadsTo: "concepts/state-and-replicas.html#can-two-replicas-share-approvals",
    otherWords: "replicas share approvals",
  },
  {
    question: "How do I add a header per user?",
    leadsTo: "guides/keep-secrets.html#a-header-for-each-user",
    otherWords: "header per user",
  },
  {
    question: "How much does it slow a call down?",
    leadsTo: "concepts/path.html#how-much-does-it-slow-a-call-down",
    otherWords: "slow call down",
  },
  {
    question: "How do I remove a server?",
    leadsTo: "guides/desktop-clients.html#remove-a-server",
    otherWords: "remove server",
  },
];

/** The anchor of a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
