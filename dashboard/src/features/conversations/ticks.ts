/** How far an own message has come, told from what the page knows already. Pure. */
import type { Message } from '@/api/shapes';
import type { Live } from '@/live/state';
import { isAgent } from '@/live/state';

/** Stored; read by somebody; answered, and nobody who has to answer is still at it. */
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

/** It only ever goes forward: who is merely offered a turn afterwards takes nothing back. */
export function reachOf(live: Live, message: Message): Reach {
  const seats = live.conversations[message.conversation]?.participants ?? [];
  if (!seats.some((seat) => isAgent(seat.kind))) return 'alone';
  const turns = Object.values(live.turns).filter((turn) => turn.conversation === message.conversation);
  const answered = isAnswered(live, message);
  if (answered && !turns.some((turn) => turn.cause === message.id && turn.duty === 'must')) return 'answered';
  const isRead = turns.some(
    (turn) =>
      turn.state === 'running' && (turn.cause === message.id || (turn.lo < message.seq && message.seq <= turn.hi)),
  );
  const passed = (live.passes[message.conversation] ?? []).some((pass) => pass.seq >= message.seq);
  return answered || isRead || passed ? 'delivered' : 'stored';
}
