/** Who makes whom speak: each pair once, with counts and the slowest answer. */
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { Message, Turn } from '@/api/shapes';
import { Mark, Name } from '@/parts/Mark';
import { Empty } from '@/parts/Page';
import { words } from '@/words';
import { flowOf } from './lanes';

export function Flow({ messages, turns }: { messages: Message[]; turns: Turn[] }) {
  const streams = useMemo(() => flowOf(messages, turns), [messages, turns]);
  if (!streams.length) return <Empty title={words.timeline.none} />;
  const most = Math.max(...streams.map((stream) => stream.count));
  return (
    <table className="grid flow">
      <thead>
        <tr>
          <th scope="col">{words.timeline.from}</th>
          <th scope="col">{words.timeline.to}</th>
          <th scope="col">{words.timeline.count}</th>
          <th scope="col">{words.timeline.slowest}</th>
        </tr>
      </thead>
      <tbody>
        {streams.map((stream) => (
          <tr key={`${stream.from} ${stream.to}`}>
            <td>
              <Mark name={stream.from} filled />{' '}
              <Link href={`/agents/${encodeURIComponent(stream.from)}`}>
                <Name name={stream.from} />
              </Link>
            </td>
            <td>
              <Mark name={stream.to} filled />{' '}
              <Link href={`/agents/${encodeURIComponent(stream.to)}`}>
                <Name name={stream.to} />
              </Link>
            </td>
            <td>
              <span className="flow__bar" style={{ width: `calc(${stream.count / most} * min(120px, 15vw))` }} />{' '}
              {stream.count}
            </td>
            <td>{stream.slowest === null ? '—' : `${stream.slowest.toFixed(1)} s`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
