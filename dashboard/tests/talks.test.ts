/** Which conversation is offered first, and how a line of the hub reads. */
import { describe, expect, it } from 'vitest';
import type { Conversation, Task } from '@/api/shapes';
import { brakeReason } from '@/live/state';
import { lineIn, newestOf, plainLine, taskTitle } from '@/parts/talks';

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
  it('calls a task by what it is about, and never by its id', () => {
    const tasks = { t01m7abcd: { task: 'Find the leak\nin the pool' } as Task };
    expect(lineIn(tasks, '[gendry finished the task t01m7abcd]')).toBe('gendry finished the task “Find the leak”');
    expect(lineIn(tasks, '[the task t01m7abcd of gendry was cancelled by karl]')).toBe(
      'the task “Find the leak” of gendry was cancelled by karl',
    );
    expect(lineIn(tasks, 'arya delegated task t01m7abcd to gendry')).toBe(
      'arya delegated task “Find the leak” to gendry',
    );
    expect(lineIn({}, '[gendry finished the task t01m7abcd]')).toBe('gendry finished the task');
    expect(taskTitle({ task: 'x'.repeat(80) })).toBe(`“${'x'.repeat(60)}…”`);
  });
  it('about a brake gives its reason alone', () => {
    expect(brakeReason('[paused: a and b keep acknowledging each other. /continue resumes them]')).toBe(
      'a and b keep acknowledging each other',
    );
    expect(brakeReason('stopped: a has used up its budget: $1.00. Raise limits.x to go on')).toBe(
      'a has used up its budget: $1.00. Raise limits.x to go on',
    );
  });
});
