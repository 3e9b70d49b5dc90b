/** Which conversation is offered first, and how a line of the hub reads. */
import { describe, expect, it } from 'vitest';
import type { Conversation } from '@/api/shapes';
import { newestOf, plainLine } from '@/parts/talks';

const talk = (id: string, at?: string) => ({ id, last: at ? { at } : null }) as unknown as Conversation;

describe('the newest conversation', () => {
  it('is the one in which somebody spoke last', () => {
    const talks = [talk('a', '2026-01-01T10:00:00Z'), talk('b', '2026-01-02T10:00:00Z'), talk('c')];
    expect(newestOf(talks)?.id).toBe('b');
  });
  it('is none where nobody has spoken', () => {
    expect(newestOf([talk('a')])).toBeNull();
  });
});

describe('a line of the hub', () => {
  it('loses the brackets around it, and none inside', () => {
    expect(plainLine('[arya finished [it]]')).toBe('arya finished [it]');
    expect(plainLine('see [1] and more')).toBe('see [1] and more');
  });
});
