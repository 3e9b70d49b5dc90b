/** Under the composer: who will answer, who may, who will not and why. */
import type { Preview } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { Name } from '@/parts/Mark';
import { words } from '@/words';

function list(names: readonly string[]) {
  return names.map((name, index) => (
    <span key={name}>
      {index > 0 && ', '}
      <Name name={name} />
    </span>
  ));
}

export function WakeLine({ preview }: { preview: Preview }) {
  const { must, may, blocked, warnings } = preview;
  const agents = useLive((live) => live.agents);
  const away = must.filter((name) => agents[name]?.activity.state === 'offline');
  const here = must.filter((name) => !away.includes(name));
  const observes = preview.observes as string[];
  return (
    <div className="wake-line" data-testid="wake" data-must={must.join(' ')} data-may={may.join(' ')}>
      {here.length > 0 ? (
        <span>
          {words.chat.willAnswer}: {list(here)}
        </span>
      ) : (
        may.length === 0 && away.length === 0 && <span>{words.chat.nobody}</span>
      )}
      {away.length > 0 && (
        <span className="wake-line__blocked">{words.chat.waits(away.join(', '), away.length === 1)}</span>
      )}
      {may.length > 0 && <span>{words.chat.mayJoin(may.join(', '))}</span>}
      {must.length === 0 && may.length === 0 && observes.length > 0 && (
        <span>{words.chat.watches(observes.join(', '))}</span>
      )}
      {blocked.map((one) => (
        <span key={one.agent} className="wake-line__blocked">
          {words.chat.blocked(one.agent, one.reason)}
        </span>
      ))}
      {warnings.map((one) => (
        <span key={one.code} className="wake-line__blocked">
          {one.message}
        </span>
      ))}
    </div>
  );
}
