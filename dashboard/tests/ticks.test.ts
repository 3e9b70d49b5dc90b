import { describe, expect, it } from 'vitest';
import type { Conversation, Message, Turn } from '@/api/shapes';
import { reachOf } from '@/features/conversations/ticks';
import { EMPTY, type Live } from '@/live/state';

const said = (seq: number, kind: string, root: string): Message =>
  ({ id: `c:${seq}`, conversation: 'c', seq, kind, root, from: kind === 'human' ? 'karl' : 'arya' }) as Message;

function live(messages: Message[], turns: Partial<Turn>[], kinds = ['human', 'agent']): Live {
  const participants = kinds.map((kind, index) => ({ name: `n${index}`, kind }));
  return {
    ...EMPTY,
    conversations: { c: { id: 'c', participants } as unknown as Conversation },
    threads: { c: { messages, whole: true, stale: false } },
    turns: Object.fromEntries(turns.map((turn, index) => [String(index), { conversation: 'c', ...turn } as Turn])),
  };
}

describe('how far a message has come', () => {
  const first = said(1, 'human', 'c:1');

  it('goes from stored over delivered to answered', () => {
    const turn = { cause: 'c:1', duty: 'must', lo: 0 };
    expect(reachOf(live([first], [{ ...turn, hi: 0, state: 'ready' }]), first)).toBe('stored');
    expect(reachOf(live([first], [{ ...turn, hi: 1, state: 'running' }]), first)).toBe('delivered');
    const answer = said(2, 'agent', 'c:1');
    expect(reachOf(live([first, answer], [{ ...turn, hi: 1, state: 'waiting' }]), first)).toBe('delivered');
    expect(reachOf(live([first, answer], []), first)).toBe('answered');
  });

  it('stays answered while others are offered a turn', () => {
    const messages = [first, said(2, 'agent', 'c:1')];
    const offered = { cause: 'c:1', duty: 'may', lo: 0, hi: 2, state: 'running' };
    const called = { cause: 'c:2', duty: 'must', lo: 0, hi: 2, state: 'running' };
    expect(reachOf(live(messages, [offered, called]), first)).toBe('answered');
  });

  it('is read where somebody passed, and answered only by its own chain', () => {
    const passed = { ...live([first], []), passes: { c: [{ turn: 't', agent: 'arya', seq: 1 }] } };
    expect(reachOf(passed, first)).toBe('delivered');
    expect(reachOf(live([first, said(2, 'human', 'c:2'), said(3, 'agent', 'c:2')], []), first)).toBe('stored');
  });

  it('has one tick where no agent is', () => {
    expect(reachOf(live([first], [], ['human']), first)).toBe('alone');
  });
});
