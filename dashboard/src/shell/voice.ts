/** What is said aloud of the conversation that is shown: that somebody replies, then what was said. */
import { useRef } from 'react';
import type { HubEvent, Message } from '@/api/shapes';
import { useEvents, useStore } from '@/live/hooks';
import { useAnnounce } from '@/parts/Announcer';
import { decoded } from '@/parts/talks';
import { words } from '@/words';

const LONGEST = 200;

export function useVoice(): void {
  const store = useStore();
  const announce = useAnnounce();
  const replying = useRef(new Set<string>());
  useEvents((event: HubEvent) => {
    const shown = decoded(/^\/c\/([^/]+)/.exec(window.location.pathname)?.[1] ?? '');
    if (event.type === 'brake.tripped') {
      const name = store.state.conversations[event.conversation ?? '']?.name ?? '';
      announce(words.now.stopped(name), true);
      return;
    }
    if (!shown || event.conversation !== shown) return;
    if (event.type === 'turn.started' && event.by && event.body?.duty === 'must' && !replying.current.has(event.by)) {
      replying.current.add(event.by);
      announce(words.chat.announceReplying(event.by));
    }
    if (event.type === 'message.posted') {
      const message = event.body as unknown as Message;
      replying.current.delete(message.from);
      if (message.from !== store.state.self)
        announce(words.chat.announceMessage(message.from, message.text.slice(0, LONGEST)));
    }
    if (event.type === 'turn.finished' && event.by) replying.current.delete(event.by);
  });
}
