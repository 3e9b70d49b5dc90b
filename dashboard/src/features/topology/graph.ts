/** The graph as values: where nodes stand, what a dragged line means, how everything is tidied. Pure. */
import dagre from '@dagrejs/dagre';
import type { Link, Point } from '@/api/shapes';

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
  if (a && b && Math.abs(a.x - b.x) < WIDTH)
    return a.y < b.y ? { source: 'bottom', target: 'top' } : { source: 'top', target: 'bottom' };
  return !a || !b || a.x <= b.x ? { source: 'right', target: 'left' } : { source: 'left', target: 'right' };
}

export function between(links: Iterable<Link>, a: string, b: string): Link | undefined {
  for (const link of links) if ((link.from === a && link.to === b) || (link.from === b && link.to === a)) return link;
  return undefined;
}

/** Everything anew, chiefs above those who report to them. */
export function tidied(names: readonly string[], links: readonly Link[]): Record<string, Point> {
  const graph = new dagre.graphlib.Graph({ multigraph: false });
  graph.setGraph({ rankdir: 'TB', nodesep: GAP, ranksep: 88 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const name of names) graph.setNode(name, { width: WIDTH, height: HEIGHT });
  for (const link of links) {
    if (!graph.hasNode(link.from) || !graph.hasNode(link.to)) continue;
    const [above, below] = link.relationship === 'subordinate' ? [link.to, link.from] : [link.from, link.to];
    graph.setEdge(above, below, {
      minlen: link.relationship === 'peer' ? 0 : 1,
      weight: link.relationship === 'peer' ? 1 : 3,
    });
  }
  dagre.layout(graph);
  return Object.fromEntries(
    names.map((name) => {
      const { x, y } = graph.node(name) as Point;
      return [name, { x: Math.round(x - WIDTH / 2), y: Math.round(y - HEIGHT / 2) }];
    }),
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
