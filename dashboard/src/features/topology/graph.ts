/** The graph as values: where nodes stand, what a dragged line means, how everything is tidied. Pure. */
import type { Link, Point, Turn } from '@/api/shapes';

export const WIDTH = 176;
export const HEIGHT = 64;
const GAP = 48;

export type Side = 'top' | 'bottom' | 'left' | 'right';

/** Drawn from below into the top of another: superior. From the top into another's bottom: subordinate. Sideways: peers. */
export function relationshipOf(
  from: string | null | undefined,
  to: string | null | undefined,
): 'superior' | 'subordinate' | 'peer' {
  if (from === 'bottom' && to !== 'bottom') return to === 'left' || to === 'right' ? 'peer' : 'superior';
  if (from === 'top' && to !== 'top') return to === 'left' || to === 'right' ? 'peer' : 'subordinate';
  return 'peer';
}

/** From which side of a node to which side of the other a link is drawn: chiefs above. */
export function sidesOf(
  link: Pick<Link, 'from' | 'to' | 'relationship'>,
  places: Record<string, Point>,
): { source: Side; target: Side } {
  if (link.relationship === 'superior') return { source: 'bottom', target: 'top' };
  if (link.relationship === 'subordinate') return { source: 'top', target: 'bottom' };
  const a = places[link.from];
  const b = places[link.to];
  if (a && b && a.y !== b.y && Math.abs(a.x - b.x) < WIDTH + GAP)
    return a.y < b.y ? { source: 'bottom', target: 'top' } : { source: 'top', target: 'bottom' };
  return !a || !b || a.x <= b.x ? { source: 'right', target: 'left' } : { source: 'left', target: 'right' };
}

export function between(links: Iterable<Link>, a: string, b: string): Link | undefined {
  for (const link of links) if ((link.from === a && link.to === b) || (link.from === b && link.to === a)) return link;
  return undefined;
}

/** Until when a message in a channel is held, if one is: the latest moment. */
export function heldUntil(turns: Record<string, Turn>, channel: string): string | null {
  let found: string | null = null;
  for (const turn of Object.values(turns))
    if (turn.conversation === channel && turn.state === 'held' && turn.until && turn.until > (found ?? ''))
      found = turn.until;
  return found;
}

const ROW = HEIGHT + 88;
const COLUMN = WIDTH + GAP;
const SWEEPS = 4;

/** Who stands above whom, as pairs. */
const reports = (links: readonly Link[]): [string, string][] =>
  links
    .filter((link) => link.relationship !== 'peer')
    .map((link) => (link.relationship === 'subordinate' ? [link.to, link.from] : [link.from, link.to]));

/** How far below the top everybody stands. A circle of superiors has no top: it is cut where it was entered. */
function ranksOf(names: readonly string[], links: readonly Link[]): Map<string, number> {
  const below = new Map<string, string[]>();
  const led = new Set<string>();
  const known = new Set(names);
  const pairs = reports(links).filter(([above, under]) => known.has(above) && known.has(under));
  for (const [above, under] of pairs) {
    below.set(above, [...(below.get(above) ?? []), under]);
    led.add(under);
  }
  const ranks = new Map<string, number>();
  const sink = (name: string, rank: number, path: ReadonlySet<string>) => {
    if (path.has(name) || (ranks.get(name) ?? -1) >= rank) return;
    ranks.set(name, rank);
    for (const under of below.get(name) ?? []) sink(under, rank + 1, new Set([...path, name]));
  };
  for (const name of below.keys()) if (!led.has(name)) sink(name, 0, new Set());
  for (const name of below.keys()) if (!ranks.has(name)) sink(name, 0, new Set());
  // Peers of somebody with a rank stand beside them; peers among themselves stand at the top.
  for (const link of links) {
    if (link.relationship !== 'peer') continue;
    for (const [one, other] of [
      [link.from, link.to],
      [link.to, link.from],
    ] as const)
      if (known.has(one) && !ranks.has(one)) ranks.set(one, ranks.get(other) ?? 0);
  }
  return ranks;
}

/** Rows from the top, none too long; who has no links stands in the last ones. */
function rowsOf(names: readonly string[], links: readonly Link[]): string[][] {
  const ranks = ranksOf(names, links);
  const last = Math.max(-1, ...ranks.values()) + 1;
  const groups: string[][] = [];
  for (const name of names) {
    const rank = ranks.get(name) ?? last;
    groups[rank] = [...(groups[rank] ?? []), name];
  }
  const most = Math.max(4, Math.ceil(Math.sqrt(names.length * 2)));
  return groups.flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / most) }, (_, part) => group.slice(part * most, (part + 1) * most)),
  );
}

/** Everything anew, chiefs above those who report to them, who is linked near each other. */
export function tidied(names: readonly string[], links: readonly Link[]): Record<string, Point> {
  const near = new Map<string, string[]>();
  for (const link of links)
    for (const [one, other] of [
      [link.from, link.to],
      [link.to, link.from],
    ] as const)
      near.set(one, [...(near.get(one) ?? []), other]);
  const rows = rowsOf(names, links);
  const x = new Map<string, number>();
  const spread = () => {
    for (const row of rows)
      for (const [index, name] of row.entries()) x.set(name, (index - (row.length - 1) / 2) * COLUMN);
  };
  spread();
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const row of rows) {
      const middle = (name: string) => {
        const others = (near.get(name) ?? []).filter((other) => x.has(other));
        return others.length
          ? others.reduce((sum, other) => sum + (x.get(other) ?? 0), 0) / others.length
          : x.get(name);
      };
      const places = new Map(row.map((name) => [name, middle(name) ?? 0]));
      row.sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
    }
    spread();
  }
  return Object.fromEntries(
    rows.flatMap((row, rank) => row.map((name) => [name, { x: Math.round(x.get(name) ?? 0), y: rank * ROW }] as const)),
  );
}

const overlaps = (a: Point, b: Point): boolean =>
  Math.abs(a.x - b.x) < WIDTH + GAP / 2 && Math.abs(a.y - b.y) < HEIGHT + GAP / 2;

/** Places for everybody: those that are kept stay, the others go where nobody stands. */
export function placesOf(
  names: readonly string[],
  links: readonly Link[],
  kept: Record<string, Point>,
): Record<string, Point> {
  const missing = names.filter((name) => !kept[name]);
  if (missing.length === names.length) return tidied(names, links);
  const places: Record<string, Point> = {};
  for (const name of names) if (kept[name]) places[name] = kept[name];
  const bottom = Math.max(0, ...Object.values(places).map((place) => place.y)) + HEIGHT + GAP;
  const left = Math.min(...Object.values(places).map((place) => place.x));
  for (const name of missing) {
    let place = { x: left, y: bottom };
    while (Object.values(places).some((other) => overlaps(place, other)))
      place = { x: place.x + WIDTH + GAP, y: place.y };
    places[name] = place;
  }
  return places;
}
