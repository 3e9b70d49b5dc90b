/** Says so when what is shown may be old. */
import { useLine } from '@/live/hooks';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';

export function Banner() {
  const line = useLine();
  const now = useNow(line.lostAt === null ? null : 1000);
  if (line.lostAt === null) return null;
  const seconds = Math.max(0, Math.round((now - line.lostAt) / 1000));
  return (
    <div className="banner" role="alert" data-testid="banner">
      {line.ready ? words.line.lost(seconds) : words.line.first}
      {seconds > 20 && (
        <span>
          {' '}
          {words.line.doctor} <code>moot doctor</code>
        </span>
      )}
    </div>
  );
}
