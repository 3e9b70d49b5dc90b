/** The last hour in one line, and five minutes per bar. */
import { useQuery } from '@tanstack/react-query';
import { get } from '@/api/client';
import type { LastHour as Hour } from '@/api/shapes';
import { words } from '@/words';

const EVERY_MS = 15_000;
const WIDTH = 14;
const HEIGHT = 28;

function Bars({ parts }: { parts: readonly number[] }) {
  const most = Math.max(1, ...parts);
  const heights = parts.map((count) => (count ? Math.max(3, Math.round((count / most) * HEIGHT)) : 1));
  return (
    <svg
      className="now-hour__bars"
      role="img"
      aria-label={words.now.hourBars(parts)}
      viewBox={`0 0 ${parts.length * WIDTH} ${HEIGHT}`}
      width={parts.length * WIDTH}
      height={HEIGHT}
    >
      {heights.map((height, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
        <rect key={index} x={index * WIDTH} y={HEIGHT - height} width={WIDTH - 3} height={height} rx={2} />
      ))}
    </svg>
  );
}

export function LastHour({ demo }: { demo: boolean }) {
  const answer = useQuery({
    queryKey: ['hour'],
    queryFn: () => get<Hour>('/api/now/hour'),
    refetchInterval: EVERY_MS,
    retry: false,
  });
  const hour = answer.data;
  if (!hour?.messages && !hour?.refused) return null;
  return (
    <section className="card now-hour" data-testid="last-hour">
      <h2>{words.now.hour}</h2>
      <p className="muted">{words.now.hourText(hour, demo)}</p>
      <Bars parts={hour.parts} />
    </section>
  );
}
