import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Link } from '@/api/shapes';
import { diff } from '@/features/notes/diff';
import { matching } from '@/features/palette/choices';
import { marked, pillsOf, withoutPill } from '@/features/search/query';
import { between, placesOf, relationshipOf, tidied } from '@/features/topology/graph';
import { countsAt, Replay } from '@/features/topology/replay';

const link = (from: string, to: string, relationship = 'superior') =>
  ({ id: `${from}${to}`, from, to, relationship }) as Link;

test('a line from below into the top makes a superior, the other way a subordinate, sideways peers', () => {
  expect(relationshipOf('bottom', 'top')).toBe('superior');
  expect(relationshipOf('top', 'bottom')).toBe('subordinate');
  expect(relationshipOf('right', 'left')).toBe('peer');
  expect(relationshipOf('bottom', 'left')).toBe('peer');
});

test('a link is found from both ends', () => {
  const links = [link('a', 'b')];
  expect(between(links, 'b', 'a')).toBe(links[0]);
  expect(between(links, 'a', 'c')).toBeUndefined();
});

test('tidying puts chiefs above and nobody on anybody', () => {
  const places = tidied(['a', 'b', 'c'], [link('a', 'b'), link('c', 'a', 'subordinate')]);
  expect(places.a?.y).toBeLessThan(places.b?.y ?? 0);
  expect(places.a?.y).toBeLessThan(places.c?.y ?? 0);
  expect(new Set(Object.values(places).map(({ x, y }) => `${x} ${y}`)).size).toBe(3);
});

test('who has a place keeps it, and a newcomer stands where nobody does', () => {
  const kept = { a: { x: 0, y: 0 }, b: { x: 300, y: 0 } };
  const places = placesOf(['a', 'b', 'c', 'd'], [], kept);
  expect(places.a).toEqual(kept.a);
  expect(places.b).toEqual(kept.b);
  expect(new Set(Object.values(places).map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
});

test('a comparison says what stayed, went and came', () => {
  expect(diff('a\nb\nc', 'a\nc\nd').map((line) => `${line.kind} ${line.text}`)).toEqual([
    'same a',
    'gone b',
    'same c',
    'new d',
  ]);
});

test('a query shows its operators as pills and marks its words', () => {
  expect(pillsOf('from:arya "two words" in:build x')).toEqual(['from:arya', 'in:build']);
  expect(withoutPill('from:arya status', 'from:arya')).toBe('status');
  expect(marked('The Status is', 'from:arya status').filter((part) => part.hit)).toEqual([
    { text: 'Status', hit: true },
  ]);
});

test('the palette prefers what begins with what was typed', () => {
  const choices = ['rebuild', 'build'].map((title) => ({ value: title, title, hint: '' }));
  expect(matching(choices, 'bui').map((choice) => choice.title)).toEqual(['build', 'rebuild']);
});

test('tidying finds a place of their own for everybody, whatever the links', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const name = fc.constantFrom(...names);
  const drawn = fc.array(fc.tuple(name, name, fc.constantFrom('superior', 'peer', 'subordinate')), { maxLength: 14 });
  fc.assert(
    fc.property(drawn, (lines) => {
      const places = Object.values(
        tidied(
          names,
          lines.map(([from, to, relationship]) => link(from, to, relationship)),
        ),
      );
      expect(new Set(places.map(({ x, y }) => `${x} ${y}`)).size).toBe(names.length);
    }),
  );
});

test('a manager stands above two peers who report to it, and who has no links stands below', () => {
  const links = [link('manager', 'support'), link('manager', 'engineering'), link('support', 'engineering', 'peer')];
  const places = tidied(['engineering', 'manager', 'support', 'user'], links);
  expect(places.manager?.y).toBeLessThan(places.support?.y ?? 0);
  expect(places.support?.y).toBe(places.engineering?.y);
  expect(places.user?.y).toBeGreaterThan(places.support?.y ?? 0);
});

test('tidying makes no endless row of a crowd', () => {
  const names = Array.from({ length: 50 }, (_, number) => `agent-${number}`);
  const columns = Object.values(tidied(names, [])).map(({ x }) => x);
  expect(Math.max(...columns) - Math.min(...columns)).toBeLessThan(2500);
});

test('looking back counts what had passed over each channel by then', () => {
  const passed = [
    { at: 10, channel: 'x', from: 'a', seq: 1 },
    { at: 20, channel: 'x', from: 'b', seq: 1 },
    { at: 20, channel: 'y', from: 'c', seq: 1 },
  ];
  expect([...countsAt(passed, 19)]).toEqual([['x', 1]]);
  const replay = new Replay();
  replay.load(passed);
  expect(replay.count('x')).toBeNull();
  replay.show(5);
  const told: string[] = [];
  replay.watchers.add(({ from }) => told.push(from));
  replay.run(20);
  expect(told).toEqual(['a', 'b', 'c']);
  expect(replay.count('x')).toBe(2);
});
