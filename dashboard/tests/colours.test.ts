/** The colour of a name is the same here, in Python and in the specification. */
import { expect, test } from 'vitest';
import { agentColour, markFor } from '@/theme/agents';

const GOLDEN: Record<number, string[]> = {
  0: ['claude', ''],
  1: ['writer', 'engineering', 'gemini'],
  2: ['abra-dev', 'critic', '😀a'],
  3: ['arya', 'gendry', 'manager', 'codex', 'claude-2', 'user', '日本'],
  4: ['puppet-dev', 'analyst'],
  5: ['janus-dev', 'support', 'é'],
};

test.each(Object.entries(GOLDEN))('colour %s belongs to its names', (index, names) => {
  for (const name of names) expect(agentColour(name), name).toBe(Number(index));
});

test('a mark is filled while its agent works, hollow while it rests, a cross when it is away', () => {
  expect(markFor('▲', 'streaming')).toBe('▲');
  expect(markFor('▲', 'idle')).toBe('△');
  expect(markFor('●', 'offline')).toBe('✕');
});
