/** Messages and turns of a conversation as a sequence with one lane per participant, and as a flow. Pure. */
import type { Message, Turn } from '@/api/shapes';

export type Step =
  | { kind: 'message'; key: string; at: string; from: string; to: string[]; seq: number; text: string }
  | { kind: 'turn'; key: string; at: string; agent: string; seconds: number | null; state: string };

/** Whom a message called: those it mentions; nobody in particular otherwise. */
export function stepsOf(messages: readonly Message[], turns: readonly Turn[]): Step[] {
  const said: Step[] = messages.map((message) => ({
    kind: 'message',
    key: `m${message.seq}`,
    at: message.at ?? '',
    from: message.from,
    to: message.mentions ?? [],
    seq: message.seq,
    text: message.text,
  }));
  const worked: Step[] = turns
    .filter((turn) => turn.started_at)
    .map((turn) => ({
      kind: 'turn',
      key: `t${turn.id}`,
      at: turn.started_at ?? '',
      agent: turn.agent,
      seconds:
        turn.ended_at && turn.started_at ? (Date.parse(turn.ended_at) - Date.parse(turn.started_at)) / 1000 : null,
      state: turn.state,
    }));
  return [...said, ...worked].sort((a, b) => a.at.localeCompare(b.at) || a.kind.localeCompare(b.kind));
}

export function lanesOf(steps: readonly Step[]): string[] {
  const names = new Set<string>();
  for (const step of steps) {
    if (step.kind === 'turn') names.add(step.agent);
    else for (const name of [step.from, ...step.to]) names.add(name);
  }
  return [...names];
}

export interface Stream {
  from: string;
  to: string;
  count: number;
  slowest: number | null;
}

/** Each pair once: how much was said, and how long the slowest answer took. */
export function flowOf(messages: readonly Message[], turns: readonly Turn[]): Stream[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const streams = new Map<string, Stream>();
  const add = (from: string, to: string, seconds: number | null) => {
    const key = `${from}\n${to}`;
    const before = streams.get(key) ?? { from, to, count: 0, slowest: null };
    streams.set(key, {
      ...before,
      count: before.count + 1,
      slowest: seconds === null ? before.slowest : Math.max(before.slowest ?? 0, seconds),
    });
  };
  for (const turn of turns) {
    const cause = turn.cause ? byId.get(turn.cause) : undefined;
    if (!cause || turn.state !== 'said') continue;
    const seconds = turn.ended_at && cause.at ? (Date.parse(turn.ended_at) - Date.parse(cause.at)) / 1000 : null;
    add(cause.from, turn.agent, seconds);
  }
  return [...streams.values()].sort((a, b) => b.count - a.count);
}
