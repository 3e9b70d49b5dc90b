/** What a conversation is called, and where it is shown: the same on every page. */
import type { Conversation, Task } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import type { Live } from '@/live/state';
import { words } from '@/words';

/** As somebody who is in it would call it. */
export function titleOf(conversation: Conversation, self: string): string {
  if (conversation.kind === 'link') return conversation.participants.map((seat) => seat.name).join(' ↔ ');
  if (conversation.kind === 'direct') {
    const others = conversation.participants.filter((seat) => seat.name !== self).map((seat) => seat.name);
    return others.join(', ') || conversation.name;
  }
  return conversation.name;
}

/** Where the newest words were said. */
export function newestOf(conversations: Conversation[]): Conversation | null {
  const said = conversations.filter((one) => one.last?.at);
  return said.reduce<Conversation | null>(
    (newest, one) => ((one.last?.at ?? '') > (newest?.last?.at ?? '') ? one : newest),
    null,
  );
}

/** The title of a conversation that may not be known here: a channel by its link, a task's by its task. */
export function titleIn(live: Pick<Live, 'conversations' | 'links' | 'tasks' | 'self'>, id: string): string {
  const task = Object.values(live.tasks).find((one) => one.conversation === id);
  if (task) return words.tasks.talk(task.by, task.to);
  const conversation = live.conversations[id];
  if (conversation) return titleOf(conversation, live.self);
  const link = live.links[id.replace(/^link:/, '')];
  return link ? words.links.title(link.from, link.to) : id;
}

export const useTitle = (id: string): string => useLive((live) => titleIn(live, id));

export const hrefOf = (id: string, seq?: number): string =>
  id.startsWith('link:')
    ? `/links/${encodeURIComponent(id.slice(5))}`
    : `/c/${encodeURIComponent(id)}${seq ? `/m/${seq}` : ''}`;

/** What a line of the hub itself says, without the brackets that tell agents whose line it is. */
export const plainLine = (text: string): string => text.replace(/^\[(.*)\]$/s, '$1');

/** The task that a line of the hub speaks of, with what is said before and after its id. */
export function taskIn(line: string): { before: string; id: string; after: string } | null {
  const found = /^(.*\btask) (t[0-9a-z]{6,})\b(.*)$/is.exec(line);
  return found ? { before: found[1] ?? '', id: found[2] ?? '', after: found[3] ?? '' } : null;
}

const TITLE = 60;

/** What a task is called where there is room for a few words. */
export function taskTitle(task: Pick<Task, 'task'>): string {
  const [first = ''] = task.task.trim().split('\n');
  return `“${first.length > TITLE ? `${first.slice(0, TITLE).trimEnd()}…` : first}”`;
}

export const taskHref = (id: string): string => `/tasks?task=${encodeURIComponent(id)}`;

/** A line of the hub as plain text. */
export function lineIn(tasks: Live['tasks'], text: string): string {
  const line = plainLine(text);
  const found = taskIn(line);
  if (!found) return line;
  const task = tasks[found.id];
  return `${found.before}${task ? ` ${taskTitle(task)}` : ''}${found.after}`;
}

/** A part of an address as it was meant; one that nobody could have meant is left as it is. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
