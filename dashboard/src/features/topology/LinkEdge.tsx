/** A link on the map, with its counter and one-shot pulses from the true sender to the true receiver. */
import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react';
import { memo, useRef, useState } from 'react';
import { useEvents, useLive } from '@/live/hooks';
import { Lock } from '@/parts/Lock';
import { stillness } from '@/parts/preferences';
import { words } from '@/words';
import { useReplayed } from './replay';

const MOST = 4;
const BRIGHT_MS = 2000;

interface Pulse {
  id: string;
  back: boolean;
}

export const LinkEdge = memo(function LinkEdge(props: EdgeProps) {
  const { id, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, markerEnd, markerStart, selected } =
    props;
  const [path, labelX, labelY] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition });
  const link = useLive((live) => live.links[id]);
  const channel = link?.channel ?? `link:${id}`;
  const counted = useLive((live) => live.traffic[channel] ?? 0);
  const held = useLive((live) => channel in live.brakes);
  const [pulses, setPulses] = useState<Pulse[]>([]);
  const [bright, setBright] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const pulse = (key: string, from: string | null) => {
    setBright(true);
    if (timer.current) clearTimeout(timer.current);
    timer.current = setTimeout(() => setBright(false), BRIGHT_MS);
    if (stillness()) return;
    const back = from === link?.to;
    setPulses((all) => (all.length >= MOST ? all : [...all, { id: key, back }]));
  };
  const replayed = useReplayed(channel, (passed) => pulse(`${passed.at} ${Date.now()}`, passed.from));
  useEvents((event) => {
    if (event.type === 'message.posted' && event.conversation === channel && replayed === null)
      pulse(event.id ?? '', event.by);
  });
  const count = replayed ?? counted;
  if (!link) return null;
  const classes = [
    'map-edge',
    `map-edge--${link.relationship}`,
    link.enabled ? '' : 'map-edge--off',
    bright ? 'map-edge--bright' : '',
    selected ? 'map-edge--selected' : '',
  ].join(' ');
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        className={classes}
        {...(markerEnd ? { markerEnd } : {})}
        {...(markerStart ? { markerStart } : {})}
        interactionWidth={24}
      />
      {pulses.map((pulse) => (
        <circle
          key={pulse.id}
          r={5}
          className={pulse.back ? 'map-pulse map-pulse--back' : 'map-pulse'}
          data-from={pulse.back ? link.to : link.from}
          style={{ offsetPath: `path("${path}")` }}
          onAnimationEnd={() => setPulses((all) => all.filter((one) => one.id !== pulse.id))}
        />
      ))}
      <EdgeLabelRenderer>
        <div
          className="map-label"
          style={{ transform: `translate(-50%, -50%) translate(${labelX}px, ${labelY}px)` }}
          aria-hidden="true"
        >
          {!link.enabled && <span className="chip">{words.topology.off}</span>}
          {held && <span className="chip">‖</span>}
          {link.origin === 'config' && <Lock />}
          {count > 0 && (
            <span className="map-label__count" data-count={count}>
              {count}
            </span>
          )}
        </div>
      </EdgeLabelRenderer>
    </>
  );
});
