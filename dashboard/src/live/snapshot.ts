/** Everything the live state starts from, read from the hub at once; events after its position continue it. */
import { at, get, Refused } from '@/api/client';
import type { Agent, Conversation, Decision, Link, Message, Point, Status, Task, Turn } from '@/api/shapes';
import { brakeReason, EMPTY, type Live, type Thread } from './state';

export const PAGE = 100;
const NEWEST = Number.MAX_SAFE_INTEGER;

const byKey = <T>(rows: T[], key: (row: T) => string): Record<string, T> =>
  Object.fromEntries(rows.map((row) => [key(row), row]));

async function allConversations(archived: boolean): Promise<Conversation[]> {
  const found: Conversation[] = [];
  let after: string | null = null;
  do {
    const page: { conversations: Conversation[]; next: string | null } = await get(
      at('/api/conversations', { archived: archived || undefined, after, limit: 200 }),
    );
    found.push(...page.conversations);
    after = page.next;
  } while (after);
  return found;
}

async function openTurns(): Promise<Turn[]> {
  const states = ['running', 'ready', 'waiting', 'held', 'owed'];
  const pages = await Promise.all(
    states.map((state) => get<{ turns: Turn[] }>(at('/api/turns', { state, limit: 200 }))),
  );
  return pages.flatMap((page) => page.turns);
}

export interface RunningText {
  turn: string;
  agent: string;
  conversation: string;
  text: string;
  /** Where the text begins: 0 unless its beginning was lost. */
  offset: number;
}

/** What running turns have said so far; a hub that cannot say is no reason to fail. */
export async function runningTexts(): Promise<RunningText[]> {
  try {
    return (await get<{ turns: RunningText[] }>('/api/live')).turns;
  } catch {
    return [];
  }
}

export interface Graph {
  agents: (Agent & { x: number | null; y: number | null })[];
  links: Link[];
}

function positionsOf(graph: Graph): Record<string, Point> {
  const placed = graph.agents.filter((agent) => agent.x !== null && agent.y !== null);
  return Object.fromEntries(placed.map((agent) => [agent.name, { x: agent.x as number, y: agent.y as number }]));
}

interface NowRow {
  what: string;
  conversation_id?: string | null;
  at?: string;
  since?: string;
  message?: Message | null;
}

async function brakesNow(): Promise<Live['brakes']> {
  try {
    const now = await get<{ needs_you: NowRow[] }>('/api/now?limit=200');
    const paused = now.needs_you.filter((row) => row.what === 'paused' && row.conversation_id);
    return Object.fromEntries(
      paused.map(({ conversation_id, message, since, at }) => [
        conversation_id as string,
        { reason: brakeReason(message?.text ?? ''), at: message?.at || since || at || '' },
      ]),
    );
  } catch {
    return {};
  }
}

/** What the hub answers, as it answers it. */
export interface Answers {
  status: Status & { owner?: boolean };
  conversations: Conversation[];
  graph: Graph;
  tasks: Task[];
  decisions: Decision[];
  turns: Turn[];
  brakes: Live['brakes'];
  threads: Record<string, Thread>;
}

/** Pure: the state that these answers say. */
export function assemble(answers: Answers): Live {
  const { status, conversations, graph, tasks, decisions, turns, brakes, threads } = answers;
  return {
    ...EMPTY,
    position: status.position,
    self: status.self,
    owner: status.owner ?? status.self === status.user,
    agents: byKey(
      graph.agents.map(({ x: _x, y: _y, ...agent }) => agent as Agent),
      (agent) => agent.name,
    ),
    conversations: byKey(conversations, (one) => one.id),
    links: byKey(graph.links, (link) => link.id),
    positions: positionsOf(graph),
    tasks: byKey(tasks, (task) => task.id),
    decisions: byKey(decisions, (decision) => decision.id),
    turns: byKey(turns, (turn) => turn.id),
    brakes,
    threads,
  };
}

/** The position is read first: events after it may repeat what the rest says, and miss nothing. */
export async function readSnapshot(wanted: string[]): Promise<Live> {
  const status = await get<Answers['status']>('/api/status');
  const [open, archived, graph, tasks, decisions, turns, brakes, loaded] = await Promise.all([
    allConversations(false),
    allConversations(true),
    get<Graph>('/api/topology'),
    get<{ tasks: Task[] }>('/api/tasks'),
    get<{ decisions: Decision[] }>('/api/decisions'),
    openTurns(),
    brakesNow(),
    Promise.all(wanted.map(async (id) => [id, await readThread(id)] as const)),
  ]);
  const threads = Object.fromEntries(loaded.filter((pair): pair is readonly [string, Thread] => pair[1] !== null));
  const conversations = [...archived, ...open];
  return assemble({
    status,
    conversations,
    graph,
    tasks: tasks.tasks,
    decisions: decisions.decisions,
    turns,
    brakes,
    threads,
  });
}

/** The newest page of a conversation; null where it is gone or not to be seen. */
export async function readThread(id: string): Promise<Thread | null> {
  try {
    const messages = await readBefore(id, NEWEST);
    return { messages, whole: messages.length < PAGE, stale: false };
  } catch (error) {
    if (error instanceof Refused && error.problem.status < 500) return null;
    throw error;
  }
}

export async function readBefore(id: string, before: number): Promise<Message[]> {
  const page = await get<{ messages: Message[] }>(
    at(`/api/conversations/${encodeURIComponent(id)}/messages`, { before, limit: PAGE }),
  );
  return page.messages;
}
