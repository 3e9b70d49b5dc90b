/** Tasks: who gave which work to whom, how far it is, what came of it. */
import { Modal } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { call, errorText } from '@/api/client';
import type { Task } from '@/api/shapes';
import { useDerived, useLive } from '@/live/hooks';
import { newKey } from '@/live/outbox';
import { isAgent } from '@/live/state';
import { Choice, Select } from '@/parts/Fields';
import { Mark, Name } from '@/parts/Mark';
import { Empty, ErrorNotice, Page } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { hrefOf } from '@/parts/talks';
import { clockTime, fullTime } from '@/parts/time';
import { words } from '@/words';
import './tasks.css';

const OPEN = new Set(['open', 'working']);

const resultText = (result: unknown): string =>
  typeof result === 'string' ? result : result ? JSON.stringify(result, null, 2) : '';

function Who({ name }: { name: string }) {
  const agent = useLive((live) => live.agents[name]);
  return (
    <span className="row task__who">
      {agent?.kind === 'human' ? (
        <Mark name={name} colour={agent.color} mark="◆" />
      ) : (
        <Mark name={name} colour={agent?.color} state={agent?.activity.state} />
      )}
      <Name name={name} colour={agent?.color} />
    </span>
  );
}

/** Given, taken up, over: each with its time, as far as the task has come. */
function Life({ task, over }: { task: Task; over: boolean }) {
  const steps = [
    `${words.tasks.steps.given} ${clockTime(task.created_at)}`,
    ...(task.state !== 'open' || task.note ? [words.tasks.steps.working] : []),
    ...(over ? [`${task.state} ${clockTime(task.updated_at)}`] : []),
  ];
  return (
    <ol className="task__life small muted" aria-label={words.tasks.life}>
      {steps.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
  );
}

function Card({ task, wanted }: { task: Task; wanted: boolean }) {
  const toast = useToast();
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (wanted) card.current?.scrollIntoView({ block: 'center' });
  }, [wanted]);
  const over = !OPEN.has(task.state);
  const cancel = async () => {
    try {
      await call('PATCH', `/api/tasks/${encodeURIComponent(task.id)}`, { state: 'cancelled' });
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  return (
    <article className="card task" data-state={task.state} data-wanted={wanted} ref={card}>
      <div className="row row--wrap">
        <span className={`chip task__state task__state--${task.state}`}>{task.state}</span>
        <Who name={task.by} />
        <span aria-hidden="true">→</span>
        <Who name={task.to} />
        <span className="grow" />
        <span className="muted small" title={fullTime(task.updated_at ?? task.created_at)}>
          {over ? words.tasks.ended(clockTime(task.updated_at)) : words.tasks.due(clockTime(task.deadline))}
        </span>
        {!over && (
          <button type="button" className="plain-button plain-button--line" onClick={cancel}>
            {words.tasks.cancel}
          </button>
        )}
      </div>
      <p className="task__text">{task.task}</p>
      <Life task={task} over={over} />
      {task.note && (
        <p className="muted small">
          {words.tasks.note}: {task.note}
        </p>
      )}
      {resultText(task.result) && (
        <div>
          <h2 className="label">{words.tasks.result}</h2>
          <p className="task__text">{resultText(task.result)}</p>
        </div>
      )}
      {task.conversation && (
        <Link className="small" href={hrefOf(task.conversation)}>
          {words.tasks.conversation}
        </Link>
      )}
    </article>
  );
}

function Delegate({ onClose }: { onClose: () => void }) {
  const toast = useToast();
  const names = useDerived(
    (live) => [live.agents],
    (live) =>
      Object.values(live.agents)
        .filter((agent) => isAgent(agent.kind))
        .map((agent) => agent.name),
  );
  const [to, setTo] = useState<string | null>(null);
  const [text, setText] = useState('');
  const [error, setError] = useState('');
  const give = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await call('POST', '/api/tasks', { to, task: text.trim() }, { 'Idempotency-Key': newKey() });
      toast(words.tasks.delegated);
      onClose();
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  return (
    <Modal opened onClose={onClose} title={words.tasks.delegate} closeButtonProps={{ 'aria-label': words.close }}>
      <form className="stack" onSubmit={give}>
        <Select label={words.tasks.delegateTo} data={names} value={to} onChange={setTo} data-autofocus />
        <label className="stack">
          {words.tasks.delegateText}
          <textarea className="field" rows={4} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        {error && <ErrorNotice text={error} />}
        <button type="submit" className="plain-button plain-button--main" disabled={!to || !text.trim()}>
          {words.tasks.delegate}
        </button>
      </form>
    </Modal>
  );
}

export default function TasksPage() {
  const [which, setWhich] = useState<'open' | 'all'>('all');
  const [giving, setGiving] = useState(false);
  const wanted = useSearchParams()[0].get('task');
  const tasks = useDerived(
    (live) => [live.tasks],
    (live) => Object.values(live.tasks).sort((a, b) => (b.created_at ?? '').localeCompare(a.created_at ?? '')),
  );
  const shown = which === 'all' ? tasks : tasks.filter((task) => OPEN.has(task.state));
  const actions = (
    <>
      <Choice
        segments
        label={words.tasks.filter}
        value={which}
        onChange={(value) => setWhich(value as 'open' | 'all')}
        options={[
          { value: 'open', label: words.tasks.open },
          { value: 'all', label: words.tasks.all },
        ]}
      />
      <button type="button" className="plain-button plain-button--main" onClick={() => setGiving(true)}>
        {words.tasks.delegate}
      </button>
    </>
  );
  return (
    <Page title={words.tasks.title} actions={actions}>
      {shown.length === 0 ? (
        <Empty title={words.tasks.none}>
          <p>{words.tasks.noneText}</p>
        </Empty>
      ) : (
        <div className="stack tasks">
          {shown.map((task) => (
            <Card key={task.id} task={task} wanted={task.id === wanted} />
          ))}
        </div>
      )}
      {giving && <Delegate onClose={() => setGiving(false)} />}
    </Page>
  );
}
