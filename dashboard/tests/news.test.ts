/** What is told to somebody who looks elsewhere, and when the page looks again by itself. */
import { describe, expect, it } from 'vitest';
import type { Decision, HubEvent } from '@/api/shapes';
import { newRows, newsOfEvent, newsOfRow } from '@/parts/news';
import { type NowRow, nextEnd } from '@/parts/now';

const row = (fields: Partial<NowRow>): NowRow =>
  ({
    what: 'question',
    agent: 'arya',
    conversation: 'build',
    conversation_id: 'c1',
    decision: null,
    ...fields,
  }) as NowRow;
const decision = (fields: Partial<Decision>): Decision => ({ state: 'open', until: null, ...fields }) as Decision;
const posted = (from: string, mentions: string[]): HubEvent => ({
  id: '1',
  type: 'message.posted',
  at: '2026-01-01T10:00:00Z',
  conversation: 'c1',
  by: from,
  body: { id: 'c1:7', seq: 7, conversation: 'c1', from, mentions, text: 'look, please' },
});

describe('news', () => {
  it('are what was not there before, and never what is only unread', () => {
    const known = row({ turn: '1' });
    const failed = row({ what: 'failed', turn: '2' });
    expect(newRows([known], [known, failed, row({ what: 'unread' })])).toEqual([failed]);
  });
  it('tell errors from what waits for an answer', () => {
    const question = row({ decision: { id: 'd1', by: 'arya', question: 'Merge?' } as Decision });
    expect(newsOfRow(question, 'build')).toMatchObject({ kind: 'needs', text: 'arya asks: Merge?' });
    expect(newsOfRow(row({ what: 'failed' }), 'build')).toMatchObject({
      kind: 'errors',
      text: 'arya could not answer in build',
    });
  });
  it('come of messages of others that name the reader', () => {
    expect(newsOfEvent(posted('arya', ['karl']), 'karl', 'build')).toMatchObject({
      kind: 'mentions',
      title: 'arya mentioned you in build',
      href: '/c/c1/m/7',
    });
    expect(newsOfEvent(posted('karl', ['karl']), 'karl', 'build')).toBeNull();
    expect(newsOfEvent(posted('arya', ['gendry']), 'karl', 'build')).toBeNull();
  });
});

describe('a question that ends by itself', () => {
  const now = Date.parse('2026-01-01T10:00:00Z');
  it('is asked about again when its time is over', () => {
    const soon = decision({ until: '2026-01-01T10:00:20Z' });
    expect(nextEnd([decision({ until: '2026-01-01T11:00:00Z' }), soon, null], now)).toBe(20_000);
  });
  it('is not asked about while nothing ends', () => {
    expect(nextEnd([decision({}), decision({ state: 'answered', until: '2026-01-01T10:00:20Z' })], now)).toBe(false);
  });
  it('is asked about every second by a browser whose clock is ahead', () => {
    expect(nextEnd([decision({ until: '2026-01-01T09:59:00Z' })], now)).toBe(1_000);
  });
});
