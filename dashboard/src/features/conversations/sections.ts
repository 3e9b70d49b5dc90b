/** The list of conversations, sorted into what a person looks for. Pure. */
import type { Conversation } from '@/api/shapes';
import type { Live } from '@/live/state';
import { titleOf } from '@/parts/talks';
import { words } from '@/words';

export interface Section {
  title: string;
  rows: Conversation[];
}

const newest = (a: Conversation, b: Conversation): number => (b.updated_at ?? '').localeCompare(a.updated_at ?? '');

export function sectionsOf(live: Pick<Live, 'conversations' | 'self'>, filter: string): Section[] {
  const wanted = filter.trim().toLowerCase();
  const found = Object.values(live.conversations)
    .filter(
      (one) =>
        !wanted || titleOf(one, live.self).toLowerCase().includes(wanted) || one.name.toLowerCase().includes(wanted),
    )
    .sort(newest);
  const open = found.filter((one) => !one.archived);
  const isUnread = (one: Conversation) => (one.unread ?? 0) > 0;
  const rest = open.filter((one) => !isUnread(one));
  const { sections } = words.chat;
  return [
    { title: sections.unread, rows: open.filter(isUnread) },
    { title: sections.groups, rows: rest.filter((one) => one.kind === 'group') },
    { title: sections.direct, rows: rest.filter((one) => one.kind !== 'group' && one.kind !== 'link') },
    { title: sections.links, rows: rest.filter((one) => one.kind === 'link') },
    { title: sections.archived, rows: found.filter((one) => one.archived).slice(0, wanted ? 50 : 8) },
  ].filter((section) => section.rows.length > 0);
}
