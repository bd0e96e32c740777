/** The page of a monitor: its state, findings and runs; run now, pause, edit, delete. */

import * as v from 'valibot';
import { findDomainNames } from '../../domains/queries.ts';
import { daysBetween, feedbackFigures } from '../../feedback/summary.ts';
import { waitUntil } from '../../lib/concurrency.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { monitorOperations } from '../../monitors/routes.ts';
import type { Monitor, MonitorPatch, MonitorRun } from '../../monitors/schema.ts';
import { Copyable } from '../../ui/components.tsx';
import { ReportedFigures } from '../feedback/figures.tsx';
import { ActionButton, Confirm, EditForm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import {
  type FormProblem,
  Notice,
  ProblemNotice,
  readForm,
  submit,
  TextArea,
  TextField,
} from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { Pager } from '../frame/table.tsx';
import { Ago, Due } from '../frame/times.tsx';
import { VersionField, versionOf } from '../frame/version.tsx';
import { MONITORS } from './list.tsx';
import { Frequency, joinTargetErrors, MESSAGE_HINT, targetLabels, targetsIn } from './new.tsx';
import { CurrentFindings, Runs } from './runs.tsx';
import { FREQUENCY_WORDS, MonitorMark, typeWords } from './states.tsx';

const PATH = `${MONITORS}/:id`;
const RUNS_PER_PAGE = 10;
/** Most runs take less, unless DNS servers are slow. */
const MAX_WAIT_MS = 12_000;

/** The result of the action that redirected here. */
const DONE: Record<string, string> = {
  created: 'Monitor created. Its first run starts now.',
  waiting: 'Monitor created. Send a message to its addresses to start the first run.',
  run: 'Run completed.',
  running: 'The run is still in progress. Reload the page in a few seconds to see its result.',
  paused: 'Monitor paused.',
  resumed: 'Monitor resumed.',
  saved: 'Changes saved.',
};

const Query = v.strictObject({
  done: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
});

interface State {
  query?: v.InferOutput<typeof Query>;
  problem?: { of: 'edit' | 'action'; problem: FormProblem };
  /** What was typed. */
  values?: Values;
}

interface Values {
  name: string;
  targets: string;
  frequency: string;
}

async function render(call: PageCall, id: string, { query = {}, problem, values }: State = {}) {
  const params = { id };
  const { starting_after, ending_before, done = '' } = query;
  const cursors = { starting_after, ending_before };
  const runsQuery = { ...cursors, limit: String(RUNS_PER_PAGE) };
  const monitor = await call.invoke(monitorOperations.get, { params });
  const runs = await call.invoke(monitorOperations.runs, { params, query: runsQuery });
  const isFirstPage = !starting_after && !ending_before;
  const latest = isFirstPage
    ? runs.data[0]
    : (await call.invoke(monitorOperations.runs, { params, query: { limit: '1' } })).data[0];
  const { domain_id } = monitor;
  const figures = domain_id === null ? null : await lastWeek(call.app, domain_id);
  const names = await findDomainNames(call.app.db, domain_id === null ? [] : [domain_id]);
  const path = `${MONITORS}/${id}`;
  const problemOf = (name: string) => (problem?.of === name ? problem.problem : null);
  return appPage(call, {
    title: monitor.name,
    section: 'monitors',
    path,
    parents: [{ href: MONITORS, text: 'Monitors' }],
    status: problem?.problem.status,
    headers: problem?.problem.headers,
    actions: <Actions monitor={monitor} />,
    calls: [
      { route: monitorOperations.get, params },
      { route: monitorOperations.runs, params },
      ...(monitor.enabled ? [{ route: monitorOperations.run, params }] : []),
    ],
    children: (
      <>
        {Object.hasOwn(DONE, done) && <Notice tone="pass">{DONE[done]}</Notice>}
        <ProblemNotice problem={problemOf('action')} />
        <Summary
          monitor={monitor}
          latest={latest}
          domain={domain_id === null ? null : readableDomain(names.get(domain_id) ?? domain_id)}
        />
        {monitor.address !== null && <Addresses monitor={monitor} />}
        {latest && <CurrentFindings monitor={monitor} run={latest} />}
        <ReportedFigures figures={figures} domainId={domain_id} />
        <Card title="Runs" id="runs">
          {runs.data.length === 0 ? (
            <p class="muted">{noRunsText(monitor)}</p>
          ) : (
            <Runs runs={runs.data} />
          )}
          <Pager
            path={path}
            query={{}}
            cursors={cursors}
            rows={runs.data}
            hasMore={runs.has_more}
          />
        </Card>
        <Edit monitor={monitor} values={values} problem={problemOf('edit')} />
      </>
    ),
  });
}

/** What receivers report about the last 7 days, as in the summary of a week. */
async function lastWeek({ db, clock }: PageCall['app'], domain: string) {
  const now = clock.now();
  const days = daysBetween(now - 7 * DAY_MS, now);
  return days && feedbackFigures(db, { ...days, domains: [domain] });
}

function noRunsText({ status, type }: Monitor): string {
  if (status === 'paused') return 'No runs. Resume the monitor to start one.';
  return type === 'placement'
    ? 'No runs yet. The first one appears here when the placement of a message is known.'
    : 'No runs yet. The first one appears here.';
}

/** Where to send the messages of a placement monitor. */
function Addresses({ monitor: { address, seed_addresses } }: { monitor: Monitor }) {
  const all = [address!, ...seed_addresses.map((seed) => seed.address)];
  return (
    <Card title="Send your messages to these addresses" id="addresses">
      <p>
        Add all of them to your mailing list, or have your program send to them on schedule. The
        first is the address of this monitor; the others are seed mailboxes.
      </p>
      <div class="box">
        <Copyable text={all.join(', ')} label="all addresses" />
      </div>
    </Card>
  );
}

function Actions({ monitor: { id, enabled, type } }: { monitor: Monitor }) {
  if (useReader().testMode) return null;
  return (
    <>
      {enabled && type !== 'placement' && (
        <ActionButton action={`${MONITORS}/${id}/run`} primary>
          Run now
        </ActionButton>
      )}
      <ActionButton
        action={`${MONITORS}/${id}/enabled`}
        fields={{ enabled: enabled ? 'no' : 'yes' }}
        primary={!enabled}
      >
        {enabled ? 'Pause' : 'Resume'}
      </ActionButton>
    </>
  );
}

interface SummaryProps {
  monitor: Monitor;
  latest?: MonitorRun;
  /** The name of the domain; null if the monitor has targets. */
  domain: string | null;
}

function Summary({ monitor, latest, domain }: SummaryProps) {
  const { type, domain_id, targets, frequency, detail, last_run_at, next_run_at } = monitor;
  return (
    <Card>
      <p class="monitor-state">
        <MonitorMark monitor={monitor} /> <span>{sentenceOf(monitor, latest)}</span>
      </p>
      {detail && <Notice tone="warn">{detail}</Notice>}
      <div class="tight-facts">
        <Facts
          items={[
            ['Type', typeWords(type)],
            ['Domain', domain && <a href={`/domains/${domain_id}`}>{domain}</a>],
            ['Frequency', FREQUENCY_WORDS[frequency]],
            ['Last run', last_run_at ? <Ago at={last_run_at} /> : 'Never'],
            [
              type === 'placement' ? 'Next message expected' : 'Next run',
              next_run_at ? <Due at={next_run_at} /> : 'None',
            ],
            [
              'Targets',
              targets && (
                <ul class="targets">
                  {targets.map((target) => (
                    <li key={target}>
                      <code>{target}</code>
                    </li>
                  ))}
                </ul>
              ),
            ],
          ]}
        />
      </div>
    </Card>
  );
}

/** What the state means, with the next action. */
function sentenceOf({ status, type, last_run_at }: Monitor, latest?: MonitorRun): string {
  const count = latest?.findings.length ?? 0;
  if (status === 'alerting' && type === 'placement')
    return `The last run has ${count === 1 ? 'one finding' : `${count} findings`}. The next message shows whether ${count === 1 ? 'it still applies' : 'they still apply'}.`;
  if (status === 'alerting')
    return count === 1
      ? 'The last run has one finding. Fix it, then run the monitor again.'
      : `The last run has ${count} findings. Fix them, then run the monitor again.`;
  if (status === 'ok') return 'The last run found no problems.';
  if (status === 'paused')
    return type === 'placement'
      ? 'This monitor is paused, so its address rejects messages. Resume it to continue.'
      : 'This monitor is paused. Resume it to start a run.';
  if (type === 'placement')
    return last_run_at === null
      ? 'Waiting for the first message. Its result appears here once its placement is known.'
      : 'The last run was inconclusive. The next message starts another one.';
  return last_run_at === null
    ? 'The first run starts within a minute.'
    : 'The last run was inconclusive. It is retried within the hour.';
}

interface EditProps {
  monitor: Monitor;
  values?: Values;
  problem: FormProblem | null;
}

function Edit({ monitor, values, problem }: EditProps) {
  const { id, name, type, targets, frequency } = monitor;
  const errors = problem?.fields ?? {};
  if (useReader().testMode)
    return (
      <Notice tone="info">
        Monitors have no test mode. Switch to live mode to change this monitor.
      </Notice>
    );
  return (
    <Card title="Settings" id="settings">
      <EditForm action={`${MONITORS}/${id}`} label="Edit monitor" open={problem !== null}>
        <ProblemNotice problem={problem} />
        <VersionField version={versionOf(monitorOperations.get, monitor)} />
        <TextField
          name="name"
          label="Name"
          value={values?.name ?? name}
          error={errors.name}
          required
        />
        {targets && <input type="hidden" name="has_targets" value="yes" />}
        {targets && (
          <TextArea
            name="targets"
            label="IP addresses and names"
            hint="One per line, at most 50. A change starts a run."
            value={values?.targets ?? targets.join('\n')}
            error={errors.targets}
            required
            mono
          />
        )}
        <Frequency
          value={values?.frequency ?? frequency}
          error={errors.frequency}
          hint={type === 'placement' ? MESSAGE_HINT : undefined}
        />
        <button type="submit" class="button primary">
          Save changes
        </button>
      </EditForm>
      <Confirm
        action={`${MONITORS}/${id}/delete`}
        label="Delete monitor…"
        warning="The monitor and its runs are deleted. This cannot be undone."
        confirm="Delete monitor"
      />
    </Card>
  );
}

const show = page({
  path: PATH,
  operation: 'showMonitor',
  limited: true,
  role: 'member',
  summary: 'Show a monitor',
  query: Query,
  handle: (call) => render(call, call.params.id!, { query: call.query }),
});

const LABELS = { name: 'name', frequency: 'frequency', targets: 'list' };

const edit = operationForm({
  path: PATH,
  operation: 'submitMonitorChanges',
  summary: 'Change a monitor with the form',
  route: monitorOperations.update,
  read(raw) {
    const field = readForm(raw);
    return {
      name: field('name'),
      targets: field('targets'),
      frequency: field('frequency'),
      hasTargets: field('has_targets') === 'yes',
    };
  },
  body: ({ name, targets, frequency, hasTargets }) => ({
    name,
    targets: hasTargets ? targetsIn(targets) : undefined,
    frequency: frequency as NonNullable<MonitorPatch['frequency']>,
  }),
  labels: ({ targets }) => ({ ...LABELS, ...targetLabels(targetsIn(targets)) }),
  next: ({ id }) => `${MONITORS}/${id}?done=saved`,
  onProblem: (call, problem, values) =>
    render(call, call.params.id!, {
      values,
      problem: { of: 'edit', problem: joinTargetErrors(problem) },
    }),
});

const run = form({
  path: `${PATH}/run`,
  operation: 'submitMonitorRun',
  limited: true,
  role: 'member',
  summary: 'Run a monitor with the button',
  async handle(call) {
    const { app, params, signal } = call;
    const id = params.id!;
    const find = () => call.invoke(monitorOperations.get, { params: { id } });
    const { result, problem } = await submit({}, () =>
      call.invoke(monitorOperations.run, { params: { id } }),
    );
    if (problem) return render(call, id, { problem: { of: 'action', problem } });
    // The end of a run plans the next one.
    const hasRun = ({ next_run_at }: Monitor) => next_run_at !== result.next_run_at;
    const wait = { name: id, ms: MAX_WAIT_MS, abort: signal };
    const isComplete = hasRun(await waitUntil(app, wait, find, hasRun));
    return seeOther(`${MONITORS}/${id}?done=${isComplete ? 'run' : 'running'}`);
  },
});

const switchOn = operationForm({
  path: `${PATH}/enabled`,
  operation: 'submitMonitorEnabled',
  summary: 'Pause or resume a monitor with the button',
  route: monitorOperations.update,
  body: (_, { raw }) => ({ enabled: readForm(raw)('enabled') === 'yes' }),
  next: ({ id, enabled }) => `${MONITORS}/${id}?done=${enabled ? 'resumed' : 'paused'}`,
});

const remove = operationForm({
  path: `${PATH}/delete`,
  operation: 'submitMonitorDeletion',
  summary: 'Delete a monitor with the button',
  route: monitorOperations.remove,
  next: () => `${MONITORS}?done=deleted`,
});

export const monitorPages = [show, edit, run, switchOn, remove];
