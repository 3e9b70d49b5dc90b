/** What a link of moot.toml would have to say to be otherwise: the row as it is, and as it should be. Pure. */
import type { Direction, Link, Relationship } from '@/api/shapes';

export interface WantedLink {
  relationship: Relationship;
  direction: Direction;
  enabled: boolean;
}

export interface RowLine {
  sign: ' ' | '-' | '+';
  text: string;
}

/** Whether moot.toml names it, also where somebody overrides what it says. */
export const isInFile = (link: Pick<Link, 'origin'>): boolean => ['config', 'overridden'].includes(link.origin);

const DEFAULTS: WantedLink = { relationship: 'peer', direction: 'two_way', enabled: true };
const literal = (value: string | boolean): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);

export function rowChange(link: Link, wanted: WantedLink): RowLine[] {
  const lines: RowLine[] = [
    { sign: ' ', text: '[[links]]' },
    { sign: ' ', text: `from = ${literal(link.from)}` },
    { sign: ' ', text: `to = ${literal(link.to)}` },
  ];
  for (const key of ['relationship', 'direction', 'enabled'] as const) {
    const now = link[key] as string | boolean;
    const then = wanted[key];
    if (now === then) {
      if (now !== DEFAULTS[key]) lines.push({ sign: ' ', text: `${key} = ${literal(now)}` });
      continue;
    }
    // What has its default need not be there, so nothing is said to be taken away.
    if (now !== DEFAULTS[key]) lines.push({ sign: '-', text: `${key} = ${literal(now)}` });
    lines.push({ sign: '+', text: `${key} = ${literal(then)}` });
  }
  return lines;
}

export const isChanged = (link: Link, wanted: WantedLink): boolean =>
  (['relationship', 'direction', 'enabled'] as const).some((key) => link[key] !== wanted[key]);

/** The row as it should be, to be pasted over the one that is there. */
export const newRow = (lines: readonly RowLine[]): string =>
  `${lines
    .filter((line) => line.sign !== '-')
    .map((line) => line.text)
    .join('\n')}\n`;
