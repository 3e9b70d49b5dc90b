/**
 * (state, event) → state. Pure. An event carries the whole object it tells of, so applying one twice changes nothing,
 * and `fold(snapshot at p, events after p)` equals a snapshot taken later (tests/fold.test.ts).
 */
import type { Agent, Conversation, Decision, HubEvent, LastWords, Link, Message, Task, Turn } from '@/api/shapes';
import { brakeReason, EMPTY, type Live, type Thread } from './state';

const ENDED = new Set(['said', 'passed', 'failed', 'expired', 'cancelled']);

const PASSES = 50;

export const isOpen = (turn: Turn): boolean => !turn.ended_at && !ENDED.has(turn.state);

function without<T>(record: Record<string, T>, key: string): Record<string, T> {
  if (!(key in record)) return record;
  const { [key]: _, ...rest } = record;
  return rest;
}

/** A thread with a message in it: appended, replaced by a newer version, or left alone. */
export function placed(thread: Thread, message: Message): Thread {
  const last = thread.messages.at(-1);
  if (!last || message.seq === last.seq + 1) {
    return last || message.seq === 1 || thread.whole
      ? { ...thread, messages: [...thread.messages, message], stale: thread.stale || (!last && message.seq !== 1) }
      : thread;
  }
  if (message.seq > last.seq) return { ...thread, stale: true };
  const index = thread.messages.findIndex((one) => one.seq === message.seq);
  const before = thread.messages[index];
  if (!before || before.version > message.version) return thread;
  const messages = thread.messages.slice();
  messages[index] = message;
  return { ...thread, messages };
}

const SHORTENED = 280;

const lastWords = ({ id, seq, from, kind, text, at }: Message): LastWords => ({
  id,
  seq,
  from,
  kind,
  text: text.slice(0, SHORTENED),
  at,
});

/** As the hub counts: what others said where one is a member; notices do not count. */
function countsAsUnread(message: Message, conversation: Conversation, self: string): boolean {
  const speaks = ['human', 'agent', 'external'].includes(message.kind);
  return speaks && message.from !== self && conversation.participants.some((seat) => seat.name === self);
}

function posted(state: Live, message: Message, isNew: boolean): Live {
  const id = message.conversation;
  const thread = state.threads[id];
  const conversation = state.conversations[id];
  const threads = thread ? { ...state.threads, [id]: placed(thread, message) } : state.threads;
  if (!conversation) return { ...state, threads };
  const head = conversation.head ?? 0;
  const changed: Conversation = { ...conversation };
  if (isNew && message.seq > head) {
    changed.head = message.seq;
    changed.last = lastWords(message);
    changed.unread = (conversation.unread ?? 0) + (countsAsUnread(message, conversation, state.self) ? 1 : 0);
    if ((message.at ?? '') > (changed.updated_at ?? '')) changed.updated_at = message.at;
  } else if (conversation.last?.seq === message.seq) {
    changed.last = lastWords(message);
  }
  const traffic =
    isNew && message.seq > head && conversation.kind === 'link'
      ? { ...state.traffic, [id]: (state.traffic[id] ?? 0) + 1 }
      : state.traffic;
  return { ...state, threads, traffic, conversations: { ...state.conversations, [id]: changed } };
}

function withConversation(state: Live, conversation: Conversation): Live {
  const before = state.conversations[conversation.id];
  const kept = { unread: before?.unread ?? 0, head: before?.head ?? 0, last: before?.last ?? null };
  return { ...state, conversations: { ...state.conversations, [conversation.id]: { ...kept, ...conversation } } };
}

function withTurn(state: Live, turn: Turn): Live {
  const turns = isOpen(turn)
    ? { ...state.turns, [turn.id]: { ...state.turns[turn.id], ...turn } }
    : without(state.turns, turn.id);
  if (turn.state !== 'passed') return { ...state, turns };
  const before = state.passes[turn.conversation] ?? [];
  const passes = [
    ...before.filter((pass) => pass.turn !== turn.id).slice(-PASSES),
    { turn: turn.id, agent: turn.agent, seq: turn.hi },
  ];
  return { ...state, turns, passes: { ...state.passes, [turn.conversation]: passes } };
}

function withAgent(state: Live, agent: Partial<Agent> & { name: string }): Live {
  const before = state.agents[agent.name];
  return { ...state, agents: { ...state.agents, [agent.name]: { ...before, ...agent } as Agent } };
}

/** The id stays; the page knows agents by name. What else bears the old name is read again (live/store.ts). */
function renamed(state: Live, event: HubEvent): Live {
  const renamedAgent = event.body as unknown as Agent;
  const agents = Object.fromEntries(Object.entries(state.agents).filter(([, agent]) => agent.id !== renamedAgent.id));
  return withAgent({ ...state, agents }, renamedAgent);
}

const bumped = (state: Live, what: keyof Live['versions']): Live => ({
  ...state,
  versions: { ...state.versions, [what]: state.versions[what] + 1 },
});

function braked(state: Live, event: HubEvent): Live {
  const id = event.conversation;
  if (!id) return bumped(state, 'limits');
  const reason = brakeReason(String(event.body?.detail ?? ''));
  return bumped({ ...state, brakes: { ...state.brakes, [id]: { reason, at: event.at } } }, 'limits');
}

type Rule = (state: Live, event: HubEvent) => Live;

const RULES: Record<string, Rule> = {
  'message.posted': (state, event) => posted(state, event.body as unknown as Message, true),
  'message.edited': (state, event) => posted(state, event.body as unknown as Message, false),
  'message.deleted': (state, event) => posted(state, event.body as unknown as Message, false),
  'conversation.created': (state, event) => withConversation(state, event.body as unknown as Conversation),
  'conversation.changed': (state, event) => withConversation(state, event.body as unknown as Conversation),
  'conversation.joined': (state, event) => withConversation(state, event.body as unknown as Conversation),
  'conversation.left': (state, event) => withConversation(state, event.body as unknown as Conversation),
  'conversation.archived': (state, event) => withConversation(state, event.body as unknown as Conversation),
  'conversation.unarchived': (state, event) => withConversation(state, event.body as unknown as Conversation),
  'conversation.deleted': (state, event) => {
    const id = event.conversation ?? '';
    return { ...state, conversations: without(state.conversations, id), threads: without(state.threads, id) };
  },
  'turn.owed': (state, event) => withTurn(state, event.body as unknown as Turn),
  'turn.ready': (state, event) => withTurn(state, event.body as unknown as Turn),
  'turn.held': (state, event) => bumped(withTurn(state, event.body as unknown as Turn), 'limits'),
  'turn.started': (state, event) => withTurn(state, event.body as unknown as Turn),
  'turn.finished': (state, event) => withTurn(state, event.body as unknown as Turn),
  'agent.joined': (state, event) => withAgent(state, event.body as unknown as Agent),
  'agent.status': (state, event) => withAgent(state, event.body as unknown as Agent),
  'agent.activity': (state, event) => withAgent(state, event.body as unknown as Agent),
  'agent.renamed': renamed,
  'link.created': (state, event) => withLink(state, event.body as unknown as Link),
  'link.changed': (state, event) => withLink(state, event.body as unknown as Link),
  'link.deleted': (state, event) => ({ ...state, links: without(state.links, String(event.body?.id ?? '')) }),
  'topology.moved': (state, event) => {
    const moved = (event.body?.positions ?? {}) as Live['positions'];
    return { ...state, positions: { ...state.positions, ...moved } };
  },
  'task.created': (state, event) => withTask(state, event.body as unknown as Task),
  'task.changed': (state, event) => withTask(state, event.body as unknown as Task),
  'task.ended': (state, event) => withTask(state, event.body as unknown as Task),
  'decision.created': (state, event) => withDecision(state, event.body as unknown as Decision),
  'decision.answered': (state, event) => withDecision(state, event.body as unknown as Decision),
  'brake.tripped': braked,
  'brake.released': (state, event) =>
    bumped({ ...state, brakes: without(state.brakes, event.conversation ?? '') }, 'limits'),
  'note.created': (state) => bumped(state, 'notes'),
  'note.changed': (state) => bumped(state, 'notes'),
  'note.deleted': (state) => bumped(state, 'notes'),
  'note.shared': (state) => bumped(state, 'notes'),
  'config.reloaded': (state) => bumped(state, 'settings'),
  'config.refused': (state) => bumped(state, 'settings'),
};

const withLink = (state: Live, link: Link): Live => ({
  ...state,
  links: { ...state.links, [link.id]: { ...state.links[link.id], ...link } },
});
const withTask = (state: Live, task: Task): Live => ({
  ...state,
  tasks: { ...state.tasks, [task.id]: { ...state.tasks[task.id], ...task } },
});
const withDecision = (state: Live, decision: Decision): Live => ({
  ...state,
  decisions: { ...state.decisions, [decision.id]: { ...state.decisions[decision.id], ...decision } },
});

/** Applies one event. An event that the state already has is skipped. */
export function reduce(state: Live, event: HubEvent): Live {
  const id = event.id === null ? 0 : Number(event.id);
  if (id && id <= state.position) return state;
  const rule = RULES[event.type];
  const next = rule && (event.body || !event.type.startsWith('message.')) ? rule(state, event) : state;
  return id ? { ...next, position: id } : next;
}

export const fold = (state: Live, events: readonly HubEvent[]): Live => events.reduce(reduce, state);

export const start = (given: Partial<Live>): Live => ({ ...EMPTY, ...given });
