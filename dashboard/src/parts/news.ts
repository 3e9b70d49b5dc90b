/** What somebody who looks elsewhere wants to hear of: what began to need them, what failed, who named them. Pure. */
import type { HubEvent, Message } from '@/api/shapes';
import { words } from '@/words';
import { keyOf, type NowRow } from './now';
import type { NoticeKind } from './preferences';
import { hrefOf } from './talks';

export interface News {
  kind: NoticeKind;
  /** News with the same key replace each other. */
  key: string;
  title: string;
  text: string;
  href: string;
}

const ERRORS = new Set(['failed', 'broken', 'left']);
const LONGEST = 200;

/** Rows that were not there before. */
export function newRows(before: readonly NowRow[], now: readonly NowRow[]): NowRow[] {
  const known = new Set(before.map(keyOf));
  return now.filter((row) => row.what !== 'unread' && !known.has(keyOf(row)));
}

export function newsOfRow(row: NowRow, where: string): News {
  return {
    kind: ERRORS.has(row.what) ? 'errors' : 'needs',
    key: keyOf(row),
    title: words.product,
    text: words.now.need(row, where),
    href: '/now',
  };
}

export function newsOfEvent(event: HubEvent, self: string, where: string): News | null {
  if (event.type !== 'message.posted' || !event.body) return null;
  const message = event.body as unknown as Message;
  if (message.from === self || !message.mentions?.includes(self)) return null;
  return {
    kind: 'mentions',
    key: message.id,
    title: words.notices.mention(message.from, where),
    text: message.text.slice(0, LONGEST),
    href: hrefOf(message.conversation, message.seq),
  };
}
