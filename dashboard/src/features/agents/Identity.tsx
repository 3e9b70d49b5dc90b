/** The files that make an agent who it is, and what its next turn begins with. */

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { at, call, errorText, get, Refused } from '@/api/client';
import { useDerived } from '@/live/hooks';
import { Choice, Select } from '@/parts/Fields';
import { ErrorNotice } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';

interface RoleFile {
  name: string;
  text: string;
  version: string;
}

function Editor({ agent, file }: { agent: string; file: RoleFile }) {
  const toast = useToast();
  const queries = useQueryClient();
  const [text, setText] = useState(file.text);
  const [version, setVersion] = useState(file.version);
  const [theirs, setTheirs] = useState<string | null>(null);
  const save = async () => {
    try {
      const saved = await call<RoleFile>(
        'PUT',
        `/api/agents/${encodeURIComponent(agent)}/files/${encodeURIComponent(file.name)}`,
        { text },
        { 'If-Match': `"${version.replaceAll('"', '')}"` },
      );
      setVersion(saved.version);
      setTheirs(null);
      toast(words.agents.fileSaved);
      void queries.invalidateQueries({ queryKey: ['files', agent] });
    } catch (error) {
      if (error instanceof Refused && typeof error.problem.current_text === 'string') {
        setTheirs(error.problem.current_text);
        setVersion(String(error.problem.current_version ?? ''));
      } else toast(errorText(error), { bad: true });
    }
  };
  return (
    <div className="stack">
      <label className="stack">
        <span className="mono small muted">{file.name}</span>
        <textarea className="field mono" rows={12} value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      {theirs !== null && (
        <>
          <ErrorNotice text={words.agents.fileConflict} />
          <pre className="map-text">{theirs}</pre>
        </>
      )}
      <div>
        <button
          type="button"
          className="plain-button plain-button--main"
          onClick={save}
          disabled={text === file.text && theirs === null}
        >
          {words.save}
        </button>
      </div>
    </div>
  );
}

function Prompt({ name }: { name: string }) {
  const places = useDerived(
    (live) => [live.conversations],
    (live) =>
      Object.values(live.conversations)
        .filter((one) => !one.archived && one.participants.some((seat) => seat.name === name))
        .map((one) => ({ value: one.id, label: one.name })),
  );
  const [where, setWhere] = useState<string | null>(places[0]?.value ?? null);
  const answer = useQuery({
    queryKey: ['prompt', name, where],
    queryFn: () => get<unknown>(at(`/api/agents/${encodeURIComponent(name)}/context`, { conversation: where })),
    enabled: where !== null,
    retry: false,
  });
  const found = (
    answer.data as { given?: { system?: string; messages?: { role: string; content: string }[] } } | undefined
  )?.given;
  return (
    <section className="stack">
      <h2 className="label">{words.agents.prompt}</h2>
      <Select label={words.agents.promptIn} data={places} value={where} onChange={setWhere} />
      {answer.error && <ErrorNotice text={errorText(answer.error)} />}
      {found && (
        <pre className="agents__log">
          {[found.system, ...(found.messages ?? []).map((one) => `${one.role}: ${one.content}`)]
            .filter(Boolean)
            .join('\n\n')}
        </pre>
      )}
    </section>
  );
}

export function Identity({ name }: { name: string }) {
  const answer = useQuery({
    queryKey: ['files', name],
    queryFn: () => get<{ files: RoleFile[] }>(`/api/agents/${encodeURIComponent(name)}/files`),
    retry: false,
  });
  const [shown, setShown] = useState('ROLE.md');
  const files = answer.data?.files ?? [];
  const file = files.find((one) => one.name === shown) ?? files[0];
  return (
    <div className="stack agents__overview">
      {answer.error && <ErrorNotice text={errorText(answer.error)} />}
      {files.length > 0 && (
        <Choice
          segments
          options={files.map((one) => ({ value: one.name, label: one.name }))}
          value={file?.name ?? ''}
          onChange={setShown}
          label={words.agents.tabs.identity}
        />
      )}
      {file && <Editor key={`${name} ${file.name} ${file.version}`} agent={name} file={file} />}
      <Prompt name={name} />
    </div>
  );
}
