/** What the palette offers, and what of it matches. Pure. */
import type { Agent, Conversation } from '@/api/shapes';
import { isAgent } from '@/live/state';
import { titleOf } from '@/parts/talks';
import { words } from '@/words';

export interface Choice {
  value: string;
  title: string;
  hint: string;
}

const MOST = 40;

const PAGES: [string, string, string][] = [
  ['/now', words.nav.now, 'moot status'],
  ['/c', words.nav.chats, 'moot conv list'],
  ['/topology', words.nav.topology, 'moot topology show'],
  ['/agents', words.nav.agents, 'moot agents list'],
  ['/tasks', words.nav.tasks, 'moot tasks list'],
  ['/decisions', words.decisions.title, 'moot decisions list'],
  ['/notes', words.nav.notes, 'moot notes list'],
  ['/search', words.nav.search, 'moot search'],
  ['/timeline', words.nav.timeline, 'moot audit log'],
  ['/limits', words.nav.limits, 'moot limits show'],
  ['/settings', words.nav.settings, 'moot config list'],
];

export function choicesOf(
  conversations: Record<string, Conversation>,
  agents: Record<string, Agent>,
  self: string,
): Choice[] {
  const talks = Object.values(conversations).sort(
    (a, b) => (b.unread ?? 0) - (a.unread ?? 0) || (b.updated_at ?? '').localeCompare(a.updated_at ?? ''),
  );
  return [
    ...PAGES.map(([value, title, command]) => ({ value, title, hint: `${words.palette.pages} · ${command}` })),
    { value: '/c?new', title: words.palette.newConversation, hint: `${words.palette.action} · moot conv new` },
    { value: 'theme', title: words.palette.theme, hint: words.palette.action },
    { value: 'keys', title: words.palette.keys, hint: `${words.palette.action} · ?` },
    ...talks.map((one) => ({
      value:
        one.kind === 'link'
          ? `/links/${encodeURIComponent(one.id.replace(/^link:/, ''))}`
          : `/c/${encodeURIComponent(one.id)}`,
      title: titleOf(one, self),
      hint: `${one.archived ? words.palette.archived : words.palette.conversation} · moot chat --conv ${one.name}`,
    })),
    ...Object.values(agents)
      .filter((agent) => isAgent(agent.kind))
      .map((agent) => ({
        value: `/agents/${encodeURIComponent(agent.name)}`,
        title: agent.name,
        hint: `${words.palette.agent} · moot chat ${agent.name}`,
      })),
  ];
}

/** Every word must be somewhere; titles that begin with what was typed come first. */
export function matching(choices: readonly Choice[], text: string): Choice[] {
  const sought = text.trim().toLowerCase();
  const parts = sought.split(/\s+/).filter(Boolean);
  const found = choices.filter((choice) =>
    parts.every((part) => `${choice.title} ${choice.hint}`.toLowerCase().includes(part)),
  );
  const rank = (choice: Choice) =>
    choice.title.toLowerCase().startsWith(sought) ? 0 : choice.title.toLowerCase().includes(sought) ? 1 : 2;
  return (
    sought
      ? found
          .map((choice, index) => ({ choice, index }))
          .sort((a, b) => rank(a.choice) - rank(b.choice) || a.index - b.index)
          .map((one) => one.choice)
      : [...found]
  ).slice(0, MOST);
}
