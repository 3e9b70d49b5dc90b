/** One link: its sentence, what can be changed, what went over it, and what both agents are told about it. */

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link as Anchor } from 'wouter';
import { call, errorText, get } from '@/api/client';
import type { Direction, Link, LinkPrompts, Relationship } from '@/api/shapes';
import { useLive, useStore } from '@/live/hooks';
import { HubLine } from '@/parts/chat/HubLine';
import { Choice, Switch } from '@/parts/Fields';
import { Hourglass } from '@/parts/Hourglass';
import { Lock } from '@/parts/Lock';
import { Name } from '@/parts/Mark';
import { SidePanel } from '@/parts/SidePanel';
import { useToast } from '@/parts/Toasts';
import { clockTime } from '@/parts/time';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';
import { isChanged, isInFile, newRow, rowChange, type WantedLink } from './fileChange';
import { heldUntil } from './graph';
import { useCount, useLinkRefusal } from './traffic';
import { useLinks } from './useLinks';

const LAST = 5;
const SIGNS = { ' ': 'same', '-': 'gone', '+': 'new' } as const;

function Prompts({ id }: { id: string }) {
  const answer = useQuery({
    queryKey: ['prompts', id],
    queryFn: () => get<LinkPrompts>(`/api/links/${encodeURIComponent(id)}/prompts`),
    staleTime: 0,
  });
  return (
    <>
      {(answer.data?.prompts ?? []).map((prompt) => (
        <div key={prompt.agent}>
          <h3 className="label">{words.topology.promptOf(prompt.agent)}</h3>
          <pre className="map-text">{[prompt.link, prompt.organisation].filter(Boolean).join('\n\n')}</pre>
        </div>
      ))}
    </>
  );
}

/** What moot.toml would have to say, line by line, to be copied. */
function FileChange({ link, wanted }: { link: Link; wanted: WantedLink }) {
  const toast = useToast();
  if (!isChanged(link, wanted)) return <p className="muted small">{words.topology.changeFileSame}</p>;
  const lines = rowChange(link, wanted);
  const copy = () => {
    void navigator.clipboard?.writeText(newRow(lines));
    toast(words.copied);
  };
  return (
    <div className="stack" data-testid="file-change">
      <p className="small">{words.topology.changeFileText(link.place)}</p>
      <pre className="map-text">
        {lines.map((line) => (
          <div key={line.sign + line.text} className={`map-row map-row--${SIGNS[line.sign]}`}>
            {line.sign} {line.text}
          </div>
        ))}
      </pre>
      <div>
        <button type="button" className="plain-button plain-button--main" onClick={copy}>
          {words.copy}
        </button>
      </div>
      <p className="muted small">{words.topology.changeFileThen}</p>
    </div>
  );
}

/** A link of the file: locked, until somebody says how it shall be changed. */
type Way = 'locked' | 'file' | 'override';

interface FromFileProps {
  link: Link;
  way: Way;
  onWay(way: Way): void;
}

/** Where the link is decided, and the two ways to change it all the same. */
function FromFile({ link, way, onWay }: FromFileProps) {
  const toast = useToast();
  const overridden = link.origin === 'overridden';
  const reload = async () => {
    try {
      await call('POST', '/api/reload');
      onWay('locked');
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  return (
    <>
      <p className="notice" id="locked">
        <Lock />
        <span className="grow">
          {overridden ? words.topology.overridden(link.place) : words.topology.locked(link.place)}
        </span>
      </p>
      <div className="row row--wrap">
        {way !== 'file' && (
          <button type="button" className="plain-button plain-button--line" onClick={() => onWay('file')}>
            {words.topology.changeFile}
          </button>
        )}
        {way !== 'override' && !overridden && (
          <button type="button" className="plain-button plain-button--line" onClick={() => onWay('override')}>
            {words.topology.override}
          </button>
        )}
        {overridden && (
          <button type="button" className="plain-button plain-button--line" onClick={() => void reload()}>
            {words.topology.reloadNow}
          </button>
        )}
      </div>
      {way === 'override' && !overridden && <p className="muted small">{words.topology.overrideText(link.place)}</p>}
    </>
  );
}

function Form({ link }: { link: Link }) {
  const { change: changeLink } = useLinks();
  const [way, setWay] = useState<Way>('locked');
  const [draft, setDraft] = useState<WantedLink | null>(null);
  const inFile = isInFile(link);
  const overridden = link.origin === 'overridden';
  const fixed = inFile && way === 'locked' && !overridden;
  const shown = draft ?? link;
  const choose = (next: Way) => {
    setWay(next);
    const { relationship, direction, enabled } = link;
    setDraft(
      next === 'file'
        ? { relationship: relationship as Relationship, direction: direction as Direction, enabled }
        : null,
    );
  };
  const change = (changes: Partial<WantedLink>) => {
    if (draft) setDraft({ ...draft, ...changes });
    else void changeLink(link.id, inFile ? { ...changes, override: true } : changes);
  };
  const relations = words.topology.relation(link.from, link.to);
  return (
    <>
      {inFile && <FromFile link={link} way={way} onWay={choose} />}
      <Choice
        label={words.topology.relationship}
        value={shown.relationship}
        disabled={fixed}
        describedBy={fixed ? 'locked' : undefined}
        onChange={(value) => change({ relationship: value as Relationship })}
        options={(['superior', 'peer', 'subordinate'] as const).map((one) => ({
          value: one,
          label: relations[one] ?? one,
        }))}
      />
      <Choice
        label={words.topology.whoStarts}
        value={shown.direction}
        disabled={fixed}
        describedBy={fixed ? 'locked' : undefined}
        onChange={(value) => change({ direction: value as Direction })}
        options={[
          { value: 'two_way', label: words.topology.both },
          { value: 'one_way', label: words.topology.only(link.from) },
        ]}
      />
      <Switch
        label={words.topology.enabled}
        checked={shown.enabled}
        disabled={fixed}
        onChange={(checked) => change({ enabled: checked })}
      />
      {draft && <FileChange link={link} wanted={draft} />}
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
  const count = useCount(channel);
  const refusal = useLinkRefusal(id);
  const until = useLive((live) => heldUntil(live.turns, channel));
  const now = useNow(until ? 1000 : null);
  const seconds = until ? Math.max(1, Math.ceil((Date.parse(until) - now) / 1000)) : 0;
  const [showsPrompts, setShowsPrompts] = useState(false);
  useEffect(() => void store.want(channel), [store, channel]);
  if (!link) return null;
  return (
    <SidePanel title={words.links.title(link.from, link.to)} onClose={onClose}>
      <p className="map-sentence" data-testid="sentence">
        {link.sentence}
      </p>
      <Form link={link} />
      <div>
        <h3 className="label">
          {words.topology.traffic(head)} · {words.topology.thisHour(count)}
        </h3>
        {until && (
          <div className="small">
            <Hourglass /> {words.topology.heldNow(seconds)}
          </div>
        )}
        {refusal && (
          <div className="small map-refusal">
            ✕ {words.topology.refusedHere(refusal.count)}: {refusal.sentence}
          </div>
        )}
        {(thread?.messages ?? []).slice(-LAST).map((message) => (
          <div key={message.seq} className="small cut">
            <span className="muted">{clockTime(message.at)}</span>{' '}
            {message.kind === 'system' ? (
              <span className="muted">
                <HubLine text={message.text} />
              </span>
            ) : (
              <>
                <Name name={message.from} /> {message.text}
              </>
            )}
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
          aria-expanded={showsPrompts}
          onClick={() => setShowsPrompts(!showsPrompts)}
        >
          {words.topology.prompts}
        </button>
        {!isInFile(link) && (
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
      {showsPrompts && <Prompts id={id} />}
    </SidePanel>
  );
}
