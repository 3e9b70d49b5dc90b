/** What had to wait between two agents is shown for good, in seconds. */
import { describe, expect, it } from 'vitest';
import type { Message, Turn } from '@/api/shapes';
import { holdsOf } from '@/features/links/holds';

const said = (seq: number, at: string) => ({ id: `link:l1:${seq}`, seq, from: 'arya', at }) as Message;
const turn = (fields: Partial<Turn>): Turn =>
  ({ id: '5', agent: 'gendry', started_at: null, ended_at: null, held: [], ...fields }) as Turn;
const held = (seq: number, until: string) => ({ message: `link:l1:${seq}`, until });
const FIRST = said(1, '2026-01-01T10:00:00.000Z');
const SECOND = said(2, '2026-01-01T10:00:01.000Z');

describe('a hold', () => {
  it('is told with its seconds once the message was delivered', () => {
    const over = turn({
      started_at: '2026-01-01T10:00:03.100Z',
      held: [held(1, FIRST.at ?? ''), held(2, '2026-01-01T10:00:03.000Z')],
    });
    expect(holdsOf([FIRST, SECOND], [over]).map(({ at, text }) => [at, text])).toEqual([
      [SECOND.at, 'arya → gendry: #2 held 2.0 s (messages in quick succession), then delivered'],
    ]);
  });
  it('ends with a turn that takes the message along before its time', () => {
    const early = turn({ started_at: '2026-01-01T10:00:01.500Z', held: [held(2, '2026-01-01T10:00:05.000Z')] });
    expect(holdsOf([SECOND], [early])[0]?.text).toContain('held 0.5 s');
  });
  it('says until when while it lasts', () => {
    const waiting = turn({ held: [held(2, '2026-01-01T10:00:05.000Z')] });
    expect(holdsOf([SECOND], [waiting])[0]?.text).toMatch(/#2 held until \d\d:\d\d:05/);
  });
  it('of a message that is not shown is not shown either', () => {
    expect(holdsOf([FIRST], [turn({ held: [held(2, '2026-01-01T10:00:05.000Z')] })])).toEqual([]);
  });
});
