import { expect, test } from 'vitest';
import type { Message } from '@/api/shapes';
import { blocksOf } from '@/parts/blocks';
import { rowsOf } from '@/parts/chat/rows';

const message = (seq: number, at: string): Message =>
  ({
    seq,
    at,
    id: `c:${seq}`,
    conversation: 'c',
    from: 'arya',
    text: `m${seq}`,
    version: 1,
    kind: 'agent',
  }) as unknown as Message;

test('days stand between messages of different days, and passes behind what was passed on', () => {
  const thread = {
    messages: [message(1, '2026-11-16T10:00:00Z'), message(2, '2026-11-17T10:00:00Z')],
    whole: true,
    stale: false,
  };
  const rows = rowsOf({ thread, passes: [{ turn: '9', agent: 'critic', seq: 2 }] });
  expect(rows.map((row) => row.kind)).toEqual(['beginning', 'day', 'message', 'day', 'message', 'passed']);
});

test('what was refused stands where it happened', () => {
  const thread = {
    messages: [message(1, '2026-11-16T10:00:00Z'), message(2, '2026-11-16T11:00:00Z')],
    whole: true,
    stale: false,
  };
  const rows = rowsOf({ thread, thins: [{ key: 'x', at: '2026-11-16T10:30:00Z', text: 'refused', bad: true }] });
  expect(rows.map((row) => row.kind)).toEqual(['beginning', 'day', 'message', 'thin', 'message']);
});

test('what is on its way comes after what is stored, and what is being written last', () => {
  const thread = { messages: [message(1, '2026-11-16T10:00:00Z')], whole: false, stale: false };
  const pending = [{ key: 'k', conversation: 'c', text: 'hey', at: '2026-11-16T10:01:00Z' }];
  const pieces = [{ turn: '1', agent: 'arya', conversation: 'c', text: 'we' }];
  expect(rowsOf({ thread, pending, pieces }).map((row) => row.kind)).toEqual(['day', 'message', 'pending', 'piece']);
});

test('blocks of Markdown keep fences, lists and references whole', () => {
  expect(blocksOf('one\n\ntwo')).toEqual(['one\n', 'two']);
  expect(blocksOf('```\na\n\nb\n```\n\nafter')).toEqual(['```\na\n\nb\n```\n', 'after']);
  expect(blocksOf('- a\n\n- b')).toEqual(['- a\n\n- b']);
  expect(blocksOf('see [x]\n\n[x]: https://a.example')).toHaveLength(1);
  expect(blocksOf('a\n\nb\n\nc').join('\n')).toBe('a\n\nb\n\nc');
});
