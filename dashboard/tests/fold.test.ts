/** Events folded onto an older snapshot give the newer one: recorded from a real hub (tests/page/record.py). */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HubEvent } from '@/api/shapes';
import { fold, reduce } from '@/live/reduce';
import { type Answers, assemble } from '@/live/snapshot';
import type { Live } from '@/live/state';

const recorded = JSON.parse(readFileSync(new URL('./recorded.json', import.meta.url), 'utf8')) as {
  snapshots: Answers[];
  events: HubEvent[];
};
const { snapshots, events } = recorded;

/** What both ways must agree on. What an agent is doing right now is told live and stands in no stored event. */
function told(live: Live) {
  const conversations = Object.fromEntries(
    Object.entries(live.conversations).map(([id, { updated_at: _at, ...rest }]) => [id, rest]),
  );
  const agents = Object.fromEntries(
    Object.entries(live.agents).map(([name, { id, role, kind, color, aliases }]) => [
      name,
      { id, role, kind, color, aliases },
    ]),
  );
  const turns = Object.fromEntries(
    Object.values(live.turns).map((turn) => [turn.id, { agent: turn.agent, state: turn.state }]),
  );
  const { links, positions, tasks, decisions, threads } = live;
  const texts = Object.fromEntries(Object.entries(threads).map(([id, thread]) => [id, thread.messages]));
  return { conversations, agents, turns, links, positions, tasks, decisions, texts };
}

const places = snapshots.length;
const pair = fc
  .tuple(fc.nat(places - 1), fc.nat(places - 1))
  .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

function between(from: number, to: number): HubEvent[] {
  return events.filter((event) => Number(event.id) > from && Number(event.id) <= to);
}

/** Conversations that were made later have no thread in the older snapshot: the page reads them when they are opened. */
function withThreads(live: Live, later: Live): Live {
  const missing = Object.keys(later.threads).filter((id) => !(id in live.threads));
  const empty = Object.fromEntries(missing.map((id) => [id, { messages: [], whole: true, stale: false }]));
  return { ...live, threads: { ...live.threads, ...empty } };
}

test('there is something to fold', () => {
  expect(places).toBeGreaterThan(5);
  expect(events.length).toBeGreaterThan(30);
});

test('folding the events between two snapshots onto the first gives the second', () => {
  fc.assert(
    fc.property(pair, ([a, b]) => {
      const first = assemble(snapshots[a] as Answers);
      const second = assemble(snapshots[b] as Answers);
      const folded = fold(withThreads(first, second), between(first.position, second.position));
      expect(told(folded)).toEqual(told(second));
    }),
  );
});

test('an event that comes again changes nothing', () => {
  fc.assert(
    fc.property(fc.nat(places - 1), fc.nat(events.length - 1), (place, index) => {
      const state = fold(assemble(snapshots[place] as Answers), events);
      expect(reduce(state, events[index] as HubEvent)).toBe(state);
    }),
  );
});

test('a message behind a gap makes the thread be read again', () => {
  const state = assemble(snapshots.at(-1) as Answers);
  const [id, thread] = Object.entries(state.threads).find(([, one]) => one.messages.length > 0) as [
    string,
    Live['threads'][string],
  ];
  const last = thread.messages.at(-1);
  const body = { ...last, seq: (last?.seq ?? 0) + 2 } as unknown as Record<string, unknown>;
  const event: HubEvent = {
    id: String(state.position + 9),
    type: 'message.posted',
    at: '',
    conversation: id,
    by: null,
    body,
  };
  expect(reduce(state, event).threads[id]?.stale).toBe(true);
});
