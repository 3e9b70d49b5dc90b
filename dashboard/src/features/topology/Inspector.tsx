/** One link: its sentence, what can be changed, what went over it, and what both agents are told about it. */

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link as Anchor } from 'wouter';
import { get } from '@/api/client';
import type { Direction, Link, LinkPrompts, Relationship } from '@/api/shapes';
import { useLive, useStore } from '@/live/hooks';
import { Choice, Switch } from '@/parts/Fields';
import { Lock } from '@/parts/Lock';
import { Name } from '@/parts/Mark';
import { SidePanel } from '@/parts/SidePanel';
import { clockTime } from '@/parts/time';
import { words } from '@/words';
import { useLinks } from './useLinks';

const LAST = 5;

function Told({ id }: { id: string }) {
  const answer = useQuery({
    queryKey: ['prompts', id],
    queryFn: () => get<LinkPrompts>(`/api/links/${encodeURIComponent(id)}/prompts`),
    staleTime: 0,
  });
  return (
    <>
      {(answer.data?.prompts ?? []).map((prompt) => (
        <div key={prompt.agent}>
          <h3 className="label">{words.topology.toldAbout(prompt.agent)}</h3>
          <pre className="map-told">{[prompt.link, prompt.organisation].filter(Boolean).join('\n\n')}</pre>
        </div>
      ))}
    </>
  );
}

function Form({ link }: { link: Link }) {
  const { change } = useLinks();
  const fixed = link.origin === 'config';
  const relations = words.topology.relation(link.from, link.to);
  return (
    <>
      {fixed && (
        <p className="notice" id="locked">
          <Lock /> {words.topology.locked(link.place)}
        </p>
      )}
      <Choice
        label={words.topology.relationship}
        value={link.relationship}
        disabled={fixed}
        describedBy={fixed ? 'locked' : undefined}
        onChange={(value) => change(link.id, { relationship: value as Relationship })}
        options={(['superior', 'peer', 'subordinate'] as const).map((one) => ({
          value: one,
          label: relations[one] ?? one,
        }))}
      />
      <Choice
        label={words.topology.whoStarts}
        value={link.direction}
        disabled={fixed}
        describedBy={fixed ? 'locked' : undefined}
        onChange={(value) => change(link.id, { direction: value as Direction })}
        options={[
          { value: 'two_way', label: words.topology.both },
          { value: 'one_way', label: words.topology.only(link.from) },
        ]}
      />
      <Switch
        label={words.topology.enabled}
        checked={link.enabled}
        disabled={fixed}
        onChange={(checked) => change(link.id, { enabled: checked })}
      />
    </>
  );
}

export function Inspector({ id, onClose }: { id: string; onClose: () => void }) {
  const store = useStore();
  const { remove } = useLinks();
  const link = useLive((live) => live.links[id]);
  const channel = link?.channel ?? `link:${id}`;
  const thread = useLive((live) => live.threads[channel]);
  const head = useLive((live) => live.conversations[channel]?.head ?? thread?.messages.at(-1)?.seq ?? 0);
  const [told, setTold] = useState(false);
  useEffect(() => void store.want(channel), [store, channel]);
  if (!link) return null;
  return (
    <SidePanel title={words.links.title(link.from, link.to)} onClose={onClose}>
      <p className="map-sentence" data-testid="sentence">
        {link.sentence}
      </p>
      <Form link={link} />
      <div>
        <h3 className="label">{words.topology.traffic(head)}</h3>
        {(thread?.messages ?? []).slice(-LAST).map((message) => (
          <div key={message.seq} className="small cut">
            <span className="muted">{clockTime(message.at)}</span> <Name name={message.from} /> {message.text}
          </div>
        ))}
      </div>
      <div className="row row--wrap">
        <Anchor href={`/links/${encodeURIComponent(id)}`} className="plain-button plain-button--line">
          {words.topology.openChannel}
        </Anchor>
        <button
          type="button"
          className="plain-button plain-button--line"
          aria-expanded={told}
          onClick={() => setTold(!told)}
        >
          {words.topology.told}
        </button>
        {link.origin !== 'config' && (
          <button
            type="button"
            className="plain-button plain-button--line plain-button--bad"
            onClick={() => {
              void remove(link);
              onClose();
            }}
          >
            {words.topology.delete}
          </button>
        )}
      </div>
      {told && <Told id={id} />}
    </SidePanel>
  );
}
