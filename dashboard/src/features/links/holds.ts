/** Which messages of a channel had to wait for the other agent, and for how long. Pure. */
import type { Message, Turn } from '@/api/shapes';
import type { Thin } from '@/parts/chat/rows';
import { exactTime } from '@/parts/time';
import { words } from '@/words';

/** Shorter than that nobody was slowed down: the clock went on while the message was stored. */
const SHORTEST_MS = 100;

const isOver = (turn: Turn): boolean => Boolean(turn.started_at || turn.ended_at);

/** One row for each message that was held, where it was said: until when, or for how long once it was handed over. */
export function holdsOf(messages: readonly Message[], turns: readonly Turn[]): Thin[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  return turns.flatMap((turn) =>
    turn.held.flatMap((held): Thin[] => {
      const message = byId.get(held.message);
      const said = Date.parse(message?.at ?? '');
      const due = Date.parse(held.until ?? '');
      const taken = Date.parse(turn.started_at ?? turn.ended_at ?? '');
      const until = isOver(turn) ? Math.min(due, taken) : due;
      if (!message || !(until - said >= SHORTEST_MS)) return [];
      return [
        {
          key: `h${turn.id} ${message.seq}`,
          at: message.at ?? '',
          text: isOver(turn)
            ? words.links.held(message.from, turn.agent, message.seq, (until - said) / 1000)
            : words.links.heldUntil(message.from, turn.agent, message.seq, exactTime(held.until)),
          bad: false,
        },
      ];
    }),
  );
}
