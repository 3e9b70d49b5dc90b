import { expect, test } from 'vitest';
import type { Agent, Seat } from '@/api/shapes';
import { isCommand, menuFor } from '@/features/conversations/completion';

const agents = Object.fromEntries(
  ['arya', 'gendry', 'gemini'].map((name) => [name, { name, role: 'r' }]),
) as unknown as Record<string, Agent>;
const seats = [{ name: 'gendry' }, { name: 'karl' }] as unknown as Seat[];
const commands = [
  { name: 'why', usage: '/why [N]', help: '' },
  { name: 'group add', usage: '/group add NAME', help: '' },
];
const offered = (text: string, caret = text.length) =>
  menuFor(text, caret, seats, agents, commands, 'karl')?.offers.map((offer) => offer.value);

test('who is here is offered before who is not', () => {
  expect(offered('hey @ge')).toEqual(['@gendry', '@gemini']);
});

test('an address is no mention', () => {
  expect(offered('mail karl@ge')).toBeUndefined();
});

test('commands are offered at the beginning of a line only', () => {
  expect(offered('/wh')).toEqual(['/why']);
  expect(offered('look at /wh')).toBeUndefined();
  expect(offered('/group a')).toEqual(['/group add']);
});

test('paths and doubled slashes are text', () => {
  expect(['/why 3', '/usr/bin is', '//why', '/etc.', 'why'].map(isCommand)).toEqual([true, false, false, false, false]);
});
