/** Scrub through the last hour or day: counters and pulses follow, and the address names the moment. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useStore } from '@/live/hooks';
import { Select } from '@/parts/Fields';
import { exactTime } from '@/parts/time';
import { words } from '@/words';
import type { Replay } from './replay';
import { passedSince } from './traffic';

const SPEED = 60;
const TICK_MS = 100;

interface Props {
  replay: Replay;
  /** Where the address says to begin; null for the end. */
  at: number | null;
  onMoment(at: number | null): void;
}

export function ReplayBar({ replay, at, onMoment }: Props) {
  const store = useStore();
  const [end] = useState(() => Date.now());
  const [span, setSpan] = useState(at !== null && end - at > 3_600_000 ? 86_400 : 3_600);
  const [first] = useState(at ?? end);
  const [moment, setMoment] = useState(first);
  const [playing, setPlaying] = useState(false);
  const start = end - span * 1000;
  const answer = useQuery({
    queryKey: ['replay', span, end],
    queryFn: () => passedSince(store.state, start),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    if (answer.data) replay.load(answer.data);
  }, [answer.data, replay]);
  useEffect(() => {
    replay.show(first);
    return () => replay.show(null);
  }, [replay, first]);
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      const next = Math.min(end, (replay.at ?? start) + TICK_MS * SPEED);
      replay.run(next);
      setMoment(next);
      if (next >= end) setPlaying(false);
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [playing, replay, end, start]);
  const jump = (to: number) => {
    setMoment(to);
    replay.show(to);
  };
  const { replaying } = words.topology;
  return (
    <div className="map-replay" data-testid="replay">
      <button
        type="button"
        className="plain-button plain-button--line"
        onClick={() => {
          if (!playing && moment >= end) jump(start);
          setPlaying(!playing);
        }}
      >
        {playing ? replaying.pause : replaying.play(SPEED)}
      </button>
      <Select
        aria-label={replaying.span}
        value={String(span)}
        onChange={(value) => setSpan(Number(value ?? 3600))}
        data={replaying.spans.map(([value, label]) => ({ value, label }))}
      />
      <input
        type="range"
        className="grow"
        min={start}
        max={end}
        step={1000}
        value={moment}
        aria-label={replaying.moment}
        aria-valuetext={exactTime(new Date(moment).toISOString())}
        onChange={(event) => jump(Number(event.target.value))}
        onPointerUp={() => onMoment(moment)}
        onKeyUp={() => onMoment(moment)}
      />
      <time className="mono small">{exactTime(new Date(moment).toISOString())}</time>
      <button type="button" className="plain-button" onClick={() => onMoment(null)}>
        {replaying.live}
      </button>
    </div>
  );
}
