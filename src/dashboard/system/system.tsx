/** The page of the system: what works, what is missing, what waits, and how the service is configured. */

import { type Setting, settingsOf } from '../../config/config.ts';
import { healthOperations } from '../../health/routes.ts';
import { describeSystem, type SystemFacts, type Tally } from '../../health/system.ts';
import { seedStates } from '../../placement/seeds.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import { appPage } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { Notice } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { Fold, NotSetUp, Waiting } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago, durationText } from '../frame/times.tsx';
import { Blocklists } from './blocklists.tsx';
import { exampleText, OPTIONAL_PARTS, type Part, partOf } from './dependencies.ts';
import { Seeds } from './seeds.tsx';

const PATH = '/system';

const show = page({
  path: PATH,
  operation: 'showSystem',
  role: 'admin',
  summary: 'Show the state and the configuration of the service',
  async handle(call) {
    const { app } = call;
    const facts = await describeSystem(app);
    const seeds = await seedStates(app);
    const settings = settingsOf(app.config);
    const parts = [...facts.dependencies.map(partOf), ...optionalParts(app.config)];
    return appPage(call, {
      title: 'System',
      section: 'system',
      path: PATH,
      calls: [{ route: healthOperations.readyz }, { route: healthOperations.statusV1 }],
      children: (
        <>
          <Readiness parts={parts} />
          <div class="columns">
            <VersionCard app={app} facts={facts} />
            <DatabaseCard facts={facts} />
          </div>
          <WorkCard work={facts.work} />
          <CountCard counts={facts.counts} />
          <Seeds states={seeds} />
          <Blocklists lists={app.blocklists.snapshot()} />
          <SettingsCard settings={settings} />
        </>
      ),
    });
  },
});

export const systemPages = [show];

type App = Parameters<typeof describeSystem>[0];

const optionalParts = (config: App['config']): Part[] =>
  OPTIONAL_PARTS.map(({ name, purpose, variables, example }) => {
    const isSet = variables.every((variable) => config[variable] !== null);
    return {
      name,
      state: isSet ? 'fine' : 'unset',
      problem: isSet ? null : purpose,
      advice: null,
      example: isSet ? null : example,
      latencyMs: null,
    };
  });

/** What is broken first, then what waits; what is fine or not set up is folded. */
function Readiness({ parts }: { parts: Part[] }) {
  const broken = parts.filter(({ state }) => state === 'broken' || state === 'restricted');
  const waiting = parts.filter(({ state }) => state === 'waiting');
  const fine = parts.filter(({ state }) => state === 'fine');
  const unset = parts.filter(({ state }) => state === 'unset');
  return (
    <Card title="Dependencies" id="readiness">
      {broken.length > 0 && (
        <ul class="parts">
          {broken.map((part) => (
            <BrokenPart key={part.name} {...part} />
          ))}
        </ul>
      )}
      {waiting.length > 0 && (
        <ul class="parts">
          {waiting.map(({ name }) => (
            <li key={name} class="part">
              <strong>{name}</strong>
              <Waiting>Waiting for the first test</Waiting>
            </li>
          ))}
        </ul>
      )}
      <Fold
        summary={
          <StateMark
            state="pass"
            word={`${fine.length} ${fine.length === 1 ? 'dependency' : 'dependencies'} working`}
          />
        }
      >
        <ul class="parts">
          {fine.map(({ name, latencyMs }) => (
            <li key={name} class="part">
              <StateMark state="pass" word={name} />
              {latencyMs !== null && <span class="muted">responds in {latencyMs} ms</span>}
            </li>
          ))}
        </ul>
      </Fold>
      {unset.length > 0 && (
        <Fold summary={<NotSetUp>{`${unset.length} not set up`}</NotSetUp>}>
          <ul class="parts">
            {unset.map((part) => (
              <UnsetPart key={part.name} {...part} />
            ))}
          </ul>
        </Fold>
      )}
    </Card>
  );
}

const BrokenPart = ({ name, state, problem, advice }: Part) => (
  <li class="part">
    <strong>{name}</strong>
    <StateMark
      state={state === 'broken' ? 'fail' : 'warn'}
      word={state === 'broken' ? 'Down' : 'Degraded'}
    />
    {problem && <p>{problem}</p>}
    {advice && <p class="muted">{advice}</p>}
  </li>
);

const UnsetPart = ({ name, problem, example }: Part) => (
  <li class="part">
    <strong>{name}</strong>
    {problem && <p>{problem}</p>}
    {example ? (
      <>
        <p class="muted">Set these environment variables, and restart the service:</p>
        <div class="box command">
          <Copyable text={exampleText(example)} label="the variables" />
        </div>
      </>
    ) : (
      <p class="muted">Not available in this version.</p>
    )}
  </li>
);

const ENGINE_NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

function VersionCard({ app, facts }: { app: App; facts: SystemFacts }) {
  const { database, versions } = facts;
  return (
    <Card title="Versions" id="versions">
      <Facts
        items={[
          ['Deliverability', app.version],
          ['Node.js', app.nodeVersion],
          [ENGINE_NAMES[database.engine], database.version ?? 'No response'],
          ['Database schema', versions.schema],
          ['Ruleset', versions.ruleset],
          ['Uptime', durationText(Math.max(0, app.clock.now() - app.startedAt))],
        ]}
      />
    </Card>
  );
}

/** Logs of machines that differ by more are hard to compare. */
const MAX_SKEW_MS = 2_000;
/** The service rejects mail below 256 MiB. */
const LOW_SPACE_BYTES = 1024 ** 3;

function DatabaseCard({ facts }: { facts: SystemFacts }) {
  const { database, otherNodes } = facts;
  const { engine, size, free, clock_skew_ms: skew } = database;
  const isPostgres = engine === 'postgres';
  return (
    <Card title={isPostgres ? 'Database and nodes' : 'Database'} id="database">
      <Facts
        items={[
          ['Kind', ENGINE_NAMES[engine]],
          ['Size', size === null ? 'Unknown' : sizeText(size)],
          [
            'Free disk space',
            free === null ? null : free < LOW_SPACE_BYTES ? (
              <StateMark key="free" state="warn" word={sizeText(free)} />
            ) : (
              sizeText(free)
            ),
          ],
          ['This node', isPostgres ? <code key="node">{facts.node}</code> : null],
          ['Other nodes', isPostgres ? <OtherNodes key="others" names={otherNodes} /> : null],
          ['Clock, compared to the server', skew === null ? null : <Skew key="skew" ms={skew} />],
        ]}
      />
    </Card>
  );
}

function OtherNodes({ names }: { names: string[] | null }) {
  if (names === null) return <span class="muted">Unknown: nodes do not notify each other</span>;
  if (names.length === 0) return <>None</>;
  return <code>{names.join(', ')}</code>;
}

function Skew({ ms }: { ms: number }) {
  const amount =
    Math.abs(ms) < 1_000 ? `${Math.abs(ms)} ms` : `${(Math.abs(ms) / 1_000).toFixed(1)} s`;
  const text = ms === 0 ? 'The same' : `${amount} ${ms > 0 ? 'ahead' : 'behind'}`;
  if (Math.abs(ms) <= MAX_SKEW_MS) return <>{text}</>;
  return (
    <>
      <StateMark state="warn" word={text} />
      <p class="small muted">Synchronize the clocks of both machines with NTP.</p>
    </>
  );
}

function WorkCard({ work }: Pick<SystemFacts, 'work'>) {
  return (
    <Card title="Queues" id="queues">
      {work === null ? (
        <Notice tone="warn">
          The database did not respond in time. Reload the page to try again.
        </Notice>
      ) : (
        <div class="queues">
          <Queue
            title="Outgoing email"
            rows={[
              ['Queued', work.outbox.queued],
              ['Failed in the last 24 hours', work.outbox.failedLastDay, 'fail'],
            ]}
            oldest={work.outbox.oldestQueuedAt}
          />
          <Queue
            title="Tests"
            rows={[
              ['Waiting for a message', work.tests.waitingForMail],
              ['Waiting for analysis', work.tests.waitingForAnalysis],
            ]}
            oldest={work.tests.oldestDueAt}
          />
          <Queue
            title="Webhook deliveries"
            rows={[
              ['Pending', work.deliveries.pending],
              ['Failed', work.deliveries.failed, 'fail'],
              ['Held until the endpoint is enabled', work.deliveries.held],
            ]}
            oldest={null}
          />
        </div>
      )}
    </Card>
  );
}

interface QueueProps {
  title: string;
  rows: [name: string, tally: Tally, state?: 'fail'][];
  /** ISO time. */
  oldest: string | null;
}

function Queue({ title, rows, oldest }: QueueProps) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="amounts">
        {rows.map(([name, tally, state]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {state === 'fail' && tally.count > 0 ? (
                <StateMark state="fail" word={tallyText(tally)} />
              ) : (
                tallyText(tally)
              )}
            </dd>
          </div>
        ))}
        {oldest && (
          <div>
            <dt>Oldest</dt>
            <dd>
              <Ago at={oldest} />
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}

function CountCard({ counts }: Pick<SystemFacts, 'counts'>) {
  if (counts === null) return null;
  return (
    <Card title="Stored objects" id="counts">
      <dl class="amounts wide-amounts">
        {counts.map(({ name, ...tally }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{tallyText(tally)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

const tallyText = ({ count, isCapped }: Tally): string =>
  `${isCapped ? 'more than ' : ''}${count.toLocaleString('en')}`;

function sizeText(bytes: number): string {
  const units = ['KB', 'MB', 'GB', 'TB'];
  let [amount, unit] = [bytes / 1024, 0];
  for (; amount >= 1024 && unit < units.length - 1; unit++) amount /= 1024;
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${units[unit]}`;
}

/** The variables that are set, then all others with their defaults. */
function SettingsCard({ settings }: { settings: Setting[] }) {
  const set = settings.filter(({ source }) => source !== 'default');
  const others = settings.filter(({ source }) => source === 'default');
  return (
    <Card title="Configuration" id="configuration">
      <p>
        These environment variables are set for the service. Changes take effect after a restart.
      </p>
      {set.length > 0 ? (
        <SettingTable label="Variables that are set" settings={set} />
      ) : (
        <p class="muted">No variables are set. The service uses its defaults.</p>
      )}
      {others.length > 0 && (
        <Fold summary={<span class="muted">{others.length} variables at their default</span>}>
          <SettingTable label="Variables with their default" settings={others} />
        </Fold>
      )}
    </Card>
  );
}

function SettingTable({ label, settings }: { label: string; settings: Setting[] }) {
  return (
    <div class="stacked">
      <DataTable
        label={label}
        rows={settings}
        keyOf={({ name }) => name}
        columns={[
          {
            title: 'Variable',
            cell: ({ name, help }) => (
              <>
                <code class="long">{name}</code>
                <span class="row-note small">{help.replaceAll('`', '')}</span>
              </>
            ),
          },
          {
            title: 'Value',
            cell: ({ value, source, default: fallback }) => (
              <>
                {value ? (
                  <code class="long">{value}</code>
                ) : (
                  <span class="muted">{fallback || 'Not set'}</span>
                )}
                {source === 'file' && <span class="row-note small">read from a file</span>}
              </>
            ),
          },
        ]}
      />
    </div>
  );
}
