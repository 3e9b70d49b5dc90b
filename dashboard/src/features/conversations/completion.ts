/** What the composer offers while somebody types: agents after @, commands after /. Pure. */
import type { Agent, Seat } from '@/api/shapes';
import { words } from '@/words';

export interface SlashCommand {
  name: string;
  usage: string;
  help: string;
}

export interface Offer {
  value: string;
  title: string;
  hint: string;
}

export interface Menu {
  kind: 'mention' | 'command';
  /** Where the word begins that is completed, and where it ends. */
  start: number;
  end: number;
  offers: Offer[];
}

const MOST = 8;

/** All letters of `wanted`, in order, somewhere in `text`; earlier and closer is better. */
export function fuzzy(wanted: string, text: string): number | null {
  const low = text.toLowerCase();
  const sought = wanted.toLowerCase();
  if (!sought) return 0;
  const whole = low.indexOf(sought);
  if (whole >= 0) return whole;
  let from = 0;
  for (const letter of sought) {
    const found = low.indexOf(letter, from);
    if (found < 0) return null;
    from = found + 1;
  }
  return 100 + from;
}

function ranked(wanted: string, offers: (Offer & { first: boolean })[]): Offer[] {
  return offers
    .map((offer) => ({ offer, score: fuzzy(wanted, offer.value) }))
    .filter((one): one is { offer: Offer & { first: boolean }; score: number } => one.score !== null)
    .sort(
      (a, b) =>
        Number(b.offer.first) - Number(a.offer.first) ||
        a.score - b.score ||
        a.offer.value.localeCompare(b.offer.value),
    )
    .slice(0, MOST)
    .map(({ offer: { value, title, hint } }) => ({ value, title, hint }));
}

function mentions(wanted: string, seats: readonly Seat[], agents: Record<string, Agent>, self: string): Offer[] {
  const here = new Set(seats.map((seat) => seat.name));
  const known = Object.values(agents).filter((agent) => agent.name !== self);
  const offers = known.map((agent) => ({
    value: `@${agent.name}`,
    title: agent.name,
    hint: [agent.role, here.has(agent.name) ? '' : words.chat.invites].filter(Boolean).join(' · '),
    first: here.has(agent.name),
  }));
  const all = { value: '@all', title: 'all', hint: words.chat.everyone, first: here.size > 2 };
  return ranked(`@${wanted}`, [...offers, all]);
}

export function menuFor(
  text: string,
  caret: number,
  seats: readonly Seat[],
  agents: Record<string, Agent>,
  commands: readonly SlashCommand[],
  self: string,
): Menu | null {
  const before = text.slice(0, caret);
  const slash = /^\/([a-z]*(?: [a-z]*)?)$/i.exec(before);
  if (slash) {
    const offers = ranked(
      `/${slash[1] ?? ''}`,
      commands.map((one) => ({ value: `/${one.name}`, title: one.usage, hint: one.help, first: false })),
    );
    return offers.length ? { kind: 'command', start: 0, end: caret, offers } : null;
  }
  const mention = /(^|[\s(])@([\p{L}\p{N}_.-]*)$/u.exec(before);
  if (!mention) return null;
  const offers = mentions(mention[2] ?? '', seats, agents, self);
  const start = caret - (mention[2]?.length ?? 0) - 1;
  return offers.length ? { kind: 'mention', start, end: caret, offers } : null;
}

export const isCommand = (text: string): boolean =>
  /^\/[a-z]/i.test(text.trimStart()) && !text.trimStart().startsWith('//') && !/^\/\S*[/.]/.test(text.trimStart());
