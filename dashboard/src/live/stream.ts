/**
 * One event stream over fetch, followed for as long as it is wanted: back with a growing pause and jitter when it
 * breaks, at once when the hub says so, never when the token is refused.
 */
import { createParser } from 'eventsource-parser';
import { at, request } from '@/api/client';
import type { HubEvent } from '@/api/shapes';

/** The hub says something every 15 s; after this long the line is dead, whatever the network thinks. */
const SILENCE_MS = 20_000;
const LONGEST_MS = 5_000;

export interface StreamListener {
  event(event: HubEvent): void;
  cursor(position: number): void;
  reset(): void;
  live(): void;
  lost(): void;
}

class Silent extends Error {}

async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  try {
    for (;;) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Silent()), SILENCE_MS);
      });
      const read = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
      if (read.done) return;
      yield read.value;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

function partsFor(listener: StreamListener): (event: { event?: string | undefined; data: string }) => boolean {
  return ({ event = 'message', data }) => {
    const parsed = JSON.parse(data);
    if (event === 'reset') listener.reset();
    else if (event === 'cursor') listener.cursor(Number(parsed.after));
    else if (event !== 'lagged' && event !== 'server_restarting') listener.event(parsed as HubEvent);
    return event === 'lagged';
  };
}

async function once(after: number, listener: StreamListener, signal: AbortSignal): Promise<boolean> {
  const answer = await request(at('/api/events', { after }), { signal });
  if (!answer.ok || !answer.body) throw new Error(`HTTP ${answer.status}`);
  listener.live();
  let atOnce = false;
  const take = partsFor(listener);
  const parser = createParser({
    onEvent: (event) => {
      atOnce = take(event) || atOnce;
    },
  });
  for await (const chunk of chunks(answer.body)) parser.feed(chunk);
  return atOnce;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      window.removeEventListener('online', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
    window.addEventListener('online', done);
  });

/** Follows until `signal` is aborted. `position` is asked before every attempt. */
export async function follow(
  position: () => Promise<number>,
  listener: StreamListener,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const attempt = new AbortController();
    const end = () => attempt.abort();
    signal.addEventListener('abort', end, { once: true });
    window.addEventListener('offline', end);
    let atOnce = false;
    try {
      const live = () => {
        failures = 0;
        listener.live();
      };
      atOnce = await once(await position(), { ...listener, live }, attempt.signal);
    } catch {
      // Every way to lose a stream is answered alike: say so, wait, come back with the cursor.
    }
    attempt.abort();
    window.removeEventListener('offline', end);
    signal.removeEventListener('abort', end);
    if (signal.aborted) return;
    if (!atOnce) listener.lost();
    failures += 1;
    const longest = Math.min(LONGEST_MS, 250 * 2 ** Math.min(failures, 6));
    await pause(atOnce ? 50 : longest * (0.5 + Math.random() / 2), signal);
  }
}
