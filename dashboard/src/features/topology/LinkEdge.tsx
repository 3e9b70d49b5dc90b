/** A link on the map, with its counter and one-shot pulses from the true sender to the true receiver. */
import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react';
import { memo, useRef, useState } from 'react';
import { useEvents, useLive } from '@/live/hooks';
import { Hourglass } from '@/parts/Hourglass';
import { Lock } from '@/parts/Lock';
import { stillness } from '@/parts/preferences';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';
import { isInFile } from './fileChange';
import { heldUntil } from './graph';
import { useReplayed } from './replay';
import { MARKED_MS, type Refusal, useCount, useLinkRefusal } from './traffic';

const MOST = 4;
const BRIGHT_MS = 2000;

/** A place on the way from an end to the middle, close to the end. */
const nearer = (end: number, middle: number): number => end + (middle - end) * 0.3;

interface Pulse {
  id: string;
  back: boolean;
}

/** Counts down while a message over the link is held. */
function Held({ channel }: { channel: string }) {
  const until = useLive((live) => heldUntil(live.turns, channel));
  const now = useNow(until ? 500 : null);
  if (!until) return null;
  const seconds = Math.max(1, Math.ceil((Date.parse(until) - now) / 1000));
  return (
    <span className="chip map-label__held" data-held={seconds}>
      <Hourglass /> {words.topology.heldFor(seconds)}
    </span>
  );
}

/** A refusal of the last minute, at its sender's end. */
function Refused({ refusal, x, y }: { refusal: Refusal; x: number; y: number }) {
  const now = useNow(5000);
  if (now - refusal.at > MARKED_MS) return null;
  return (
    <div
      className="map-label map-label__refused"
      style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
      title={refusal.sentence}
      data-refused={refusal.from}
      aria-hidden="true"
    >
      ✕
    </div>
  );
}

export const LinkEdge = memo(function LinkEdge(props: EdgeProps) {
  const { id, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, markerEnd, markerStart, selected } =
    props;
  const [path, labelX, labelY] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition });
  const link = useLive((live) => live.links[id]);
  const channel = link?.channel ?? `link:${id}`;
  const counted = useCount(channel);
  const refusal = useLinkRefusal(id);
  const stopped = useLive((live) => channel in live.brakes);
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
          {stopped && <span className="chip">‖</span>}
          <Held channel={channel} />
          {isInFile(link) && <Lock />}
          {count > 0 && (
            <span className="map-label__count" data-count={count}>
              {replayed === null ? words.topology.perHour(count) : count}
            </span>
          )}
        </div>
        {refusal && (
          <Refused
            refusal={refusal}
            x={nearer(refusal.from === link.to ? targetX : sourceX, labelX)}
            y={nearer(refusal.from === link.to ? targetY : sourceY, labelY)}
          />
        )}
      </EdgeLabelRenderer>
    </>
  );
});
