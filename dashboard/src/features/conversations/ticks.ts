/** How far an own message has come, told from what the page knows already. Pure. */
import type { Message } from '@/api/shapes';
import type { Live } from '@/live/state';
import { isAgent } from '@/live/state';

/** Stored; read by somebody who was asked; answered, and nobody is still at it. */
export type Reach = 'alone' | 'stored' | 'delivered' | 'answered';

export const TICKS: Record<Reach, string> = { alone: '✓', stored: '✓ · ·', delivered: '✓ ✓ ·', answered: '✓ ✓ ✓' };

/** Messages that are looked through for an answer. */
const MOST = 200;

function isAnswered(live: Live, message: Message): boolean {
  const messages = live.threads[message.conversation]?.messages ?? [];
  const start = message.seq - (messages[0]?.seq ?? 0) + 1;
  for (let index = start; index < Math.min(messages.length, start + MOST); index += 1) {
    const later = messages[index];
    if (later?.root === message.id && isAgent(later.kind)) return true;
  }
  return false;
}

export function reachOf(live: Live, message: Message): Reach {
  const seats = live.conversations[message.conversation]?.participants ?? [];
  if (!seats.some((seat) => isAgent(seat.kind))) return 'alone';
  let waits = false;
  let runs = false;
  for (const turn of Object.values(live.turns)) {
    if (turn.conversation !== message.conversation) continue;
    if (turn.cause !== message.id && !(turn.lo < message.seq && message.seq <= turn.hi)) continue;
    if (turn.state === 'running') runs = true;
    else waits = true;
  }
  const answered = isAnswered(live, message);
  if (answered && !runs && !waits) return 'answered';
  const passed = (live.passes[message.conversation] ?? []).some((pass) => pass.seq >= message.seq);
  return answered || runs || passed ? 'delivered' : 'stored';
}
