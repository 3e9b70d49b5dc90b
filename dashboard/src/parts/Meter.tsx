/** How close something is to its limit: a number, a shape and a colour that agree. */
import { words } from '@/words';
import './meter.css';

const CELLS = 5;

export function Meter({ label, used, max }: { label: string; used: number; max: number }) {
  const cells = Math.max(1, Math.min(CELLS, max));
  const filled = max > 0 ? Math.min(cells, Math.ceil((used / max) * cells)) : 0;
  const level = max > 0 && used >= max ? 'full' : max > 0 && used / max > 0.65 ? 'near' : 'far';
  return (
    <span
      className={`meter meter--${level}`}
      role="img"
      aria-label={words.limits.meter(label, used, max)}
      title={words.limits.meter(label, used, max)}
    >
      <span aria-hidden="true">
        {label} {used}/{max}
      </span>
      <span className="meter__cells" aria-hidden="true">
        {Array.from({ length: cells }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: cells are their place
          <i key={index} className={index < filled ? 'meter__cell meter__cell--on' : 'meter__cell'} />
        ))}
      </span>
    </span>
  );
}
