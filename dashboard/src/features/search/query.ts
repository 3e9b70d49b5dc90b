/** What a query says, as far as the page must know to show it. The hub alone interprets it. Pure. */
const PILL = /(?:^|\s)(-?(?:from|to|in|kind|has|is|before|after):(?:"[^"]*"|\S+))/g;

export const pillsOf = (query: string): string[] => [...query.matchAll(PILL)].map((found) => found[1] ?? '');

export const withoutPill = (query: string, pill: string): string => query.replace(pill, '').replace(/\s+/g, ' ').trim();

export interface Part {
  text: string;
  hit: boolean;
}

/** A snippet with the words of the query marked. */
export function marked(text: string, query: string): Part[] {
  const terms =
    query
      .replace(PILL, ' ')
      .match(/"[^"]+"|[^\s"]+/g)
      ?.map((term) => term.replaceAll('"', '')) ?? [];
  const wanted = terms
    .filter((term) => term.length > 1 && !term.startsWith('-'))
    .map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (!wanted.length) return [{ text, hit: false }];
  const pattern = new RegExp(`(${wanted.join('|')})`, 'gi');
  return text
    .split(pattern)
    .filter(Boolean)
    .map((part) => ({ text: part, hit: new RegExp(`^(?:${wanted.join('|')})$`, 'i').test(part) }));
}
