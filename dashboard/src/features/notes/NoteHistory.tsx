/** Who changed a note when, and who may. */

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call, errorText, get } from '@/api/client';
import type { NoteChange } from '@/api/shapes';
import { useDerived } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { Drop } from '@/parts/Drop';
import { Select } from '@/parts/Fields';
import { Name } from '@/parts/Mark';
import { useToast } from '@/parts/Toasts';
import { fullTime } from '@/parts/time';
import { words } from '@/words';

interface Props {
  name: string;
  version: number;
  comparing: number | null;
  onCompare(version: number | null): void;
  onDelete(): void;
}

type Permission = { agent: string; access: string };

function Access({ name }: { name: string }) {
  const toast = useToast();
  const queries = useQueryClient();
  const path = `/api/notes/${encodeURIComponent(name)}/permissions`;
  const answer = useQuery({
    queryKey: ['permissions', name],
    queryFn: () => get<{ permissions: Permission[] }>(path),
    retry: false,
  });
  const agents = useDerived(
    (live) => [live.agents],
    (live) =>
      Object.values(live.agents)
        .filter((agent) => isAgent(agent.kind))
        .map((agent) => agent.name),
  );
  const given = new Map((answer.data?.permissions ?? []).map((row) => [row.agent, row.access]));
  const grant = async (agent: string, access: string) => {
    try {
      await call('PUT', path, { agent, access });
      void queries.invalidateQueries({ queryKey: ['permissions', name] });
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  return (
    <section className="stack">
      <h2 className="label">{words.notes.access}</h2>
      {agents.map((agent) => (
        <div key={agent} className="row">
          <span className="grow cut">
            <Name name={agent} />
          </span>
          <Select
            aria-label={`${words.notes.access}: ${agent}`}
            data={Object.entries(words.notes.rights).map(([value, label]) => ({ value, label }))}
            value={given.get(agent) ?? 'none'}
            onChange={(value) => value && grant(agent, value)}
          />
        </div>
      ))}
    </section>
  );
}

export function NoteHistory({ name, version, comparing, onCompare, onDelete }: Props) {
  const toast = useToast();
  const path = `/api/notes/${encodeURIComponent(name)}`;
  const answer = useQuery({
    queryKey: ['history', name, version],
    queryFn: () => get<{ versions: NoteChange[] }>(`${path}/history`),
    placeholderData: (before) => before,
  });
  const revert = async (to: number) => {
    try {
      await call('POST', `${path}/revert`, { to });
      onCompare(null);
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  return (
    <aside className="note-side stack" aria-label={words.notes.history} data-region="history">
      <section className="stack">
        <h2 className="label">{words.notes.history}</h2>
        {(answer.data?.versions ?? []).map((row) => {
          const change = row as NoteChange & { by?: string; updated_by?: string; at?: string; updated_at?: string };
          return (
            <div key={change.version} className="note-side__row">
              <div className="row">
                <strong>{change.version}</strong>
                <span className="grow cut small">
                  {words.notes.by(change.by ?? change.updated_by ?? '', fullTime(change.at ?? change.updated_at))}
                </span>
              </div>
              {change.version !== version && (
                <div className="row">
                  <button
                    type="button"
                    className="plain-button"
                    aria-pressed={comparing === change.version}
                    onClick={() => onCompare(comparing === change.version ? null : change.version)}
                  >
                    {words.notes.diff}
                  </button>
                  <button type="button" className="plain-button" onClick={() => revert(change.version)}>
                    {words.notes.revert(change.version)}
                  </button>
                </div>
              )}
            </div>
          );
        })}
      </section>
      <Access name={name} />
      <Drop above text={words.notes.delete} className="plain-button plain-button--bad">
        <p>{words.notes.deleteText}</p>
        <button type="button" className="plain-button plain-button--line plain-button--bad" onClick={onDelete}>
          {words.notes.erase}
        </button>
      </Drop>
    </aside>
  );
}
