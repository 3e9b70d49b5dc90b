import { describe, expect, it } from 'vitest';
import type { AuditEntry, Link, Turn } from '@/api/shapes';
import { isChanged, newRow, rowChange } from '@/features/topology/fileChange';
import { heldUntil } from '@/features/topology/graph';
import { HOUR_MS, refusalsOf, Traffic } from '@/features/topology/traffic';

const LINK = {
  id: 'l1',
  from: 'arya',
  to: 'gendry',
  relationship: 'superior',
  direction: 'two_way',
  enabled: true,
  channel: 'link:l1',
} as Link;

describe('a link that moot.toml owns', () => {
  it('is changed in the file: what goes, what comes, and the row to paste', () => {
    const wanted = { relationship: 'peer', direction: 'one_way', enabled: true } as const;
    const lines = rowChange(LINK, wanted);
    expect(lines.map((line) => line.sign + line.text)).toEqual([
      ' [[links]]',
      ' from = "arya"',
      ' to = "gendry"',
      '-relationship = "superior"',
      '+relationship = "peer"',
      '+direction = "one_way"',
    ]);
    expect(newRow(lines)).toBe(
      '[[links]]\nfrom = "arya"\nto = "gendry"\nrelationship = "peer"\ndirection = "one_way"\n',
    );
    expect(isChanged(LINK, wanted)).toBe(true);
    expect(isChanged(LINK, { relationship: 'superior', direction: 'two_way', enabled: true })).toBe(false);
  });
});

describe('traffic of the last hour', () => {
  const one = (seq: number, at: number) => ({ at, channel: 'link:l1', from: 'arya', seq });

  it('counts what is read and what events tell, each message once, and forgets after an hour', () => {
    const traffic = new Traffic();
    const now = 10 * HOUR_MS;
    traffic.add(one(3, now));
    traffic.load([one(1, now - HOUR_MS / 2), one(2, now - 5), one(3, now)], now);
    expect(traffic.count('link:l1')).toBe(3);
    traffic.add(one(4, now + 1));
    expect(traffic.count('link:l1')).toBe(4);
    traffic.tick(now + HOUR_MS / 2 + 1);
    expect(traffic.count('link:l1')).toBe(3);
  });

  it('knows a refusal by its link, or by its two ends', () => {
    const entry = (more: object) => ({ by: 'gendry', count: 1, at: null, ...more }) as AuditEntry;
    const found = refusalsOf(
      [
        entry({ last_at: '2026-01-01T00:00:00Z', detail: { link: 'l1', rule: 'link', bar: 'off' }, count: 2 }),
        entry({ last_at: '2026-01-01T00:01:00Z', detail: { to: 'arya', what: 'send', rule: 'pair_limit' } }),
        entry({ last_at: '2026-01-01T00:02:00Z', detail: { to: 'nobody' } }),
      ],
      [LINK],
    );
    expect(found.get('l1')).toEqual({
      at: Date.parse('2026-01-01T00:01:00Z'),
      from: 'gendry',
      count: 3,
      sentence: 'gendry → arya, send refused: too many messages within a minute',
    });
    expect(found.size).toBe(1);
  });

  it('says until when a message is held', () => {
    const turn = (more: object) => ({ conversation: 'link:l1', state: 'held', until: null, ...more }) as Turn;
    expect(
      heldUntil(
        { a: turn({ until: '2' }), b: turn({ until: '3' }), c: turn({ until: '9', state: 'ready' }) },
        'link:l1',
      ),
    ).toBe('3');
    expect(heldUntil({}, 'link:l1')).toBe(null);
  });
});
