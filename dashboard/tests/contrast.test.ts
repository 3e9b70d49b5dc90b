/** The colours of tokens.css are readable: computed by the formula of WCAG, in both themes. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const css = readFileSync(new URL('../src/theme/tokens.css', import.meta.url), 'utf8');

function tokens(selector: string): Record<string, string> {
  const from = css.indexOf(selector);
  const block = css.slice(from, css.indexOf('}', from));
  return Object.fromEntries([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/g)].map((found) => [found[1], found[2]]));
}

function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ratio(one: string, other: string): number {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ['page', 'raised', 'sunken', 'hover'];
const TEXT: [string, string[]][] = [
  ['text', [...GROUNDS, 'accent-tint', 'code', 'warn-tint', 'bad-tint', 'mark']],
  ['muted', [...GROUNDS, 'accent-tint']],
  ['accent', ['page', 'raised', 'sunken', 'accent-tint']],
  ['ok', ['page', 'raised']],
  ['warn', ['page', 'raised', 'warn-tint']],
  ['bad', ['page', 'raised', 'sunken', 'bad-tint', 'hover']],
  ['on-accent', ['accent-fill', 'bad-fill']],
  ...[0, 1, 2, 3, 4, 5].map((index): [string, string[]] => [`agent-${index}-text`, [`agent-${index}-bg`, 'page']]),
  ...[0, 1, 2, 3, 4, 5].map((index): [string, string[]] => ['text', [`agent-${index}-bg`]]),
];
const GRAPHICS: [string, string[]][] = [
  ['line-strong', ['page', 'raised']],
  ['accent', ['page', 'raised']],
  ...[0, 1, 2, 3, 4, 5].map((index): [string, string[]] => [`agent-${index}-border`, [`agent-${index}-bg`, 'page']]),
];

for (const theme of ['[data-mantine-color-scheme="dark"]', '[data-mantine-color-scheme="light"]']) {
  const known = tokens(theme);
  const colour = (name: string): string => {
    const found = known[name];
    if (!found) throw new Error(`no colour --${name} in ${theme}`);
    return found;
  };
  test.each(TEXT)(`${theme}: text --%s is readable on its grounds`, (name, grounds) => {
    for (const ground of grounds)
      expect(ratio(colour(name), colour(ground)), `${name} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  });
  test.each(GRAPHICS)(`${theme}: --%s can be seen on its grounds`, (name, grounds) => {
    for (const ground of grounds)
      expect(ratio(colour(name), colour(ground)), `${name} on ${ground}`).toBeGreaterThanOrEqual(3);
  });
}

test('a person reads white on blue', () => {
  expect(ratio('#ffffff', '#2563eb')).toBeGreaterThanOrEqual(4.5);
});
