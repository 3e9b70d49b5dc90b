/** Limits and loops: how close everybody is, what was stopped, and how to let it go on. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { call, errorText, get } from '@/api/client';
import type { BrakeReport } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { Mark, Name } from '@/parts/Mark';
import { Meter } from '@/parts/Meter';
import { ErrorNotice, Page } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { hrefOf, useTitle } from '@/parts/talks';
import { words } from '@/words';
import { Budgets } from './Budgets';
import './limits.css';

type Act = (path: string, body?: unknown) => Promise<void>;

function Pairs({ report, act, owner }: { report: BrakeReport; act: Act; owner: boolean }) {
  const { settings } = report as unknown as { settings: Record<string, number> };
  return (
    <section className="card stack">
      <h2>{words.limits.pairs}</h2>
      {report.pairs.length === 0 && <p className="muted">{words.limits.none}</p>}
      {report.pairs.map((pair) => (
        <div key={`${pair.from} ${pair.to}`} className="row row--wrap limits__row">
          <Name name={pair.from} /> → <Name name={pair.to} />
          <span className="grow" />
          <Meter label={words.limits.messages} used={pair.sent} max={pair.max_sent} />
          {(pair.hold_seconds ?? 0) > 0 && (
            <span className="chip">⏳ {words.limits.held(Math.ceil(pair.hold_seconds ?? 0))}</span>
          )}
          {(pair.refused_seconds ?? 0) > 0 && (
            <span className="chip">✕ {words.limits.frees(Math.ceil(pair.refused_seconds ?? 0))}</span>
          )}
          {owner && (
            <button
              type="button"
              className="plain-button plain-button--line"
              onClick={() => act('/api/limits/reset', { from: pair.from, to: pair.to })}
            >
              {words.limits.reset}
            </button>
          )}
        </div>
      ))}
      <p className="muted small">
        {words.limits.backoff(
          settings.pair_backoff_seconds ?? 2,
          settings.pair_backoff_max_seconds ?? 30,
          settings.pair_reset_seconds ?? 30,
        )}
      </p>
    </section>
  );
}

function Talk({ id }: { id: string }) {
  return <Link href={hrefOf(id)}>{useTitle(id)}</Link>;
}

function Chains({ report, act }: { report: BrakeReport; act: Act }) {
  const brakes = useLive((live) => live.brakes);
  return (
    <section className="card stack">
      <h2>{words.limits.loops}</h2>
      {report.chains.length === 0 && <p className="muted">{words.limits.noLoops}</p>}
      <p className="muted small">{words.limits.loopsText}</p>
      {report.chains.map((chain) => {
        const stopped = Boolean(chain.stopped) || chain.id in brakes;
        return (
          <div key={`${chain.id} ${chain.root}`} className="stack limits__chain">
            <div className="row row--wrap">
              <span aria-hidden="true">{stopped ? '‖' : '○'}</span>
              <Talk id={chain.id} />
              {stopped && (
                <>
                  <span className="chip">{words.limits.stopped}</span>
                  <span className="muted small">
                    {brakes[chain.id]?.reason || words.refusals.rules[chain.stopped ?? ''] || chain.stopped}
                  </span>
                  <span className="grow" />
                  <button
                    type="button"
                    className="plain-button plain-button--line"
                    onClick={() => act(`/api/conversations/${encodeURIComponent(chain.id)}/continue`)}
                  >
                    {words.limits.resume}
                  </button>
                </>
              )}
            </div>
            <div className="row row--wrap small muted limits__meters">
              <Meter label={words.limits.turns} used={chain.turns} max={chain.max_turns} />
              <Meter label={words.limits.depth} used={chain.depth} max={chain.max_depth} />
              <Meter label={words.limits.messages} used={chain.messages} max={chain.max_messages} />
              <Meter label={words.limits.alike} used={chain.alike} max={chain.max_alike} />
            </div>
          </div>
        );
      })}
    </section>
  );
}

/** In one line: how many wait, were refused, were stopped. */
function summary({ pairs, chains }: BrakeReport): string {
  return words.limits.summary(
    pairs.filter((pair) => (pair.hold_seconds ?? 0) > 0).length,
    pairs.filter((pair) => (pair.refused_seconds ?? 0) > 0).length,
    chains.filter((chain) => chain.stopped).length,
  );
}

export default function LimitsPage() {
  const toast = useToast();
  const owner = useLive((live) => live.owner);
  const version = useLive((live) => live.versions.limits);
  const agents = useLive((live) => live.agents);
  const answer = useQuery({
    queryKey: ['limits', 'all', version],
    queryFn: () => get<BrakeReport>('/api/limits'),
    refetchInterval: 3000,
    placeholderData: (before) => before,
  });
  const report = answer.data;
  const act: Act = async (path, body) => {
    try {
      await call('POST', path, body);
      void answer.refetch();
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  return (
    <Page title={words.limits.title} actions={report && <span className="muted small">{summary(report)}</span>}>
      {answer.error && <ErrorNotice text={errorText(answer.error)} />}
      {report && (
        <div className="limits">
          <Pairs report={report} act={act} owner={owner} />
          <Chains report={report} act={act} />
          <Budgets settings={report.settings as unknown as Record<string, number>} />
          <section className="card stack">
            <h2>{words.limits.agents}</h2>
            {report.agents.map((row) => (
              <div key={row.agent} className="row row--wrap limits__row">
                <Mark name={row.agent} colour={agents[row.agent]?.color} state={agents[row.agent]?.activity.state} />
                <Name name={row.agent} />
                <span className="grow" />
                <Meter label={words.limits.turns} used={row.turns} max={row.max_turns} />
              </div>
            ))}
          </section>
        </div>
      )}
    </Page>
  );
}
