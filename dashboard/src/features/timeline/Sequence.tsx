/** One lane per participant: dots for messages, bars for thinking, arrows to whom they were for. */
import { type CSSProperties, useMemo } from 'react';
import type { Message, Turn } from '@/api/shapes';
import { Mark, Name } from '@/parts/Mark';
import { Empty } from '@/parts/Page';
import { exactTime } from '@/parts/time';
import { agentStyle } from '@/theme/agents';
import { words } from '@/words';
import { lanesOf, type Step, stepsOf } from './lanes';

function Cell({ step, lane }: { step: Step; lane: string }) {
  if (step.kind === 'turn') {
    if (step.agent !== lane) return null;
    const width = Math.min(100, 12 + (step.seconds ?? 0) * 8);
    return (
      <span className="lane__turn" style={agentStyle(lane)} title={step.state}>
        <span className="lane__bar" style={{ width: `${width}%` }} />
        <span className="small">
          {[step.seconds === null ? '' : `${step.seconds.toFixed(1)} s`, words.timeline.ends[step.state] ?? '']
            .filter(Boolean)
            .join(', ')}
        </span>
      </span>
    );
  }
  if (step.from === lane)
    return (
      <span className="lane__said" style={agentStyle(lane)} title={step.text.slice(0, 300)}>
        <span className="mark" aria-hidden="true">
          ●
        </span>
        <span className="cut">
          #{step.seq} {step.text.slice(0, 80)}
        </span>
      </span>
    );
  return step.to.includes(lane) ? (
    <span className="lane__to small" role="img" aria-label={words.timeline.calls(step.from, lane)}>
      ◂ {step.from}
    </span>
  ) : null;
}

export function Sequence({ messages, turns }: { messages: Message[]; turns: Turn[] }) {
  const steps = useMemo(() => stepsOf(messages, turns), [messages, turns]);
  const lanes = useMemo(() => lanesOf(steps), [steps]);
  if (!steps.length) return <Empty title={words.timeline.none} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <div className="table-scroll" tabIndex={0}>
      <table className="grid lanes" style={{ '--lanes': lanes.length } as CSSProperties}>
        <caption className="visually-hidden">{words.timeline.sequenceOf}</caption>
        <thead>
          <tr>
            <th scope="col">{words.timeline.when}</th>
            {lanes.map((lane) => (
              <th key={lane} scope="col">
                <Mark name={lane} filled /> <Name name={lane} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step.key}>
              <td className="small timeline__time">{exactTime(step.at)}</td>
              {lanes.map((lane) => (
                <td key={lane} className="lane">
                  <Cell step={step} lane={lane} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
