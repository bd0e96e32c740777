/** One source: what it is, what a person says about it, its addresses and signatures, and the test that explains its failures. */

import * as v from 'valibot';
import { findDomain } from '../../domains/queries.ts';
import { MARK_WORDS, SOURCE_MARKS } from '../../feedback/sources/kind.ts';
import { sourceOperations } from '../../feedback/sources/routes.ts';
import type { FeedbackSourceDetails } from '../../feedback/sources/schema.ts';
import { isAddress } from '../../lib/addresses.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { eventsOf } from '../../picture/explaining-events.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import {
  type FormProblem,
  Notice,
  PageQuery,
  ProblemNotice,
  readForm,
  Select,
  Submit,
  submit,
  TextField,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { Fold } from '../frame/states.tsx';
import { DataTable, pathWith } from '../frame/table.tsx';
import { Time } from '../frame/times.tsx';
import { DayChart } from './chart.tsx';
import { FEEDBACK, feedbackPath, REPORTS } from './list.tsx';
import { Overrides } from './overrides.tsx';
import {
  type ChosenPeriod,
  chosenPeriod,
  inPeriod,
  PERIOD_QUERY,
  PeriodFilters,
} from './period.tsx';
import { KindMark, nextStepOf } from './words.tsx';

const PATH = `${FEEDBACK}/sources/:id`;

interface State {
  query?: v.InferOutput<typeof Query>;
  problem?: FormProblem | null;
}

const Query = v.strictObject({
  ...PageQuery.entries,
  ...PERIOD_QUERY,
  address: v.optional(v.string()),
});

async function render(call: PageCall, id: string, { query = {}, problem = null }: State) {
  const params = { id };
  const { address } = query;
  const period = chosenPeriod(call.app, query);
  const asked = { from: period.from, to: period.to, ...(address ? { address } : {}) };
  const source = await call.invoke(sourceOperations.get, { params, query: asked });
  const domain = await findDomain(call.app.db, source.domain_id);
  const events = await eventsOf(call, source.domain_id, source);
  const path = `${FEEDBACK}/sources/${id}`;
  const { name, label, messages, passed } = source;
  return appPage(call, {
    title: label ?? name,
    section: 'feedback',
    path: inPeriod(path, period),
    parents: [
      { href: FEEDBACK, text: 'Feedback' },
      { href: feedbackPath(source.domain_id), text: readableDomain(domain?.name ?? '') },
    ],
    status: problem?.status,
    headers: problem?.headers,
    actions: <KindMark kind={source.kind} />,
    calls: [
      { route: sourceOperations.get, params, query: asked },
      { route: sourceOperations.update, params, body: { mark: 'own' } },
    ],
    children: (
      <>
        {query.done === 'marked' && <Notice tone="pass">Saved. It applies to all reports.</Notice>}
        <ProblemNotice problem={problem} />
        <PeriodFilters path={path} period={period} />
        <Card id="facts">
          <Facts
            items={[
              ['Source', label === null ? null : name],
              ['Evidence', source.evidence],
              [
                'Messages',
                messages === 0
                  ? `None from ${spanOf(source)}`
                  : `${formatCount(messages)} from ${spanOf(source)}, of which ${formatPercent(passed / messages)} pass DMARC, according to ${formatCount(source.reporters.length, 'reporter')}`,
              ],
              [
                'Passes with',
                messages === 0
                  ? null
                  : `DKIM: ${formatCount(source.dkim)}, SPF: ${formatCount(source.spf)}`,
              ],
              [
                'Seen',
                // A source that someone named stays after its last address has moved to another.
                source.first_day === ''
                  ? null
                  : `${dayInWords(source.first_day)} to ${dayInWords(source.last_day)}`,
              ],
              ['What to do', nextStepOf(source)],
            ]}
          />
        </Card>
        <Explanation source={source} />
        <Setup source={source} />
        <For role="member">
          <Mark source={source} path={path} period={period} />
        </For>
        {source.days.length > 0 && (
          <Card title="Messages by day" id="by-day">
            <DayChart days={source.days} from={source.from} to={source.to} events={events} />
          </Card>
        )}
        <Addresses source={source} period={period} />
        {address && <Reports source={source} address={address} />}
        <Overrides
          overrides={source.overrides}
          basis={`From the rows of reports about this source, ${spanOf(source)}.`}
        />
        <Signatures source={source} />
      </>
    ),
  });
}

/** Latest test from this source, or how to get one. */
function Explanation({ source }: { source: FeedbackSourceDetails }) {
  const { test, kind, name, label, domain_id } = source;
  if (kind === 'spoof' || kind === 'forwarder') return null;
  if (test === null)
    return (
      <For role="member">
        <Card title="Test it" id="test">
          <p>
            Your team has not sent a test through this source yet. A test shows any problems and how
            to fix them.
          </p>
          <form method="get" action="/tests/new">
            <input type="hidden" name="domain_id" value={domain_id} />
            <input type="hidden" name="name" value={label ?? name} />
            <Submit>{`Send a test through ${label ?? name}`}</Submit>
          </form>
        </Card>
      </For>
    );
  return (
    <Card title="Latest test from this source" id="test">
      <p>
        <a href={`/tests/${test.id}`}>
          {test.score === null ? 'No score' : `Score ${test.score} (${test.grade})`}
        </a>
        {', '}
        <Time at={test.completed_at} day />
      </p>
      {test.finding ? (
        <>
          <p>
            <strong>{test.finding}</strong>
          </p>
          {test.fix && <p>{test.fix}</p>}
        </>
      ) : (
        <p>This test found no problems with SPF, DKIM or DMARC.</p>
      )}
    </Card>
  );
}

const METHODS = { dkim: 'DKIM', return_path: 'Return path' };

/** How to set the service up: open if it is the problem, else folded, because few failing messages have other reasons. */
function Setup({ source: { setup_steps, kind, name } }: { source: FeedbackSourceDetails }) {
  if (setup_steps.length === 0) return null;
  const steps = (
    <>
      <p>DMARC needs only one of DKIM and SPF. DKIM also survives forwarding.</p>
      <ol>
        {setup_steps.map(({ method, text, guide }) => (
          <li key={method}>
            <strong>{METHODS[method]}</strong>: {text}{' '}
            <a href={guide} rel="noreferrer noopener" target="_blank">
              {`How to do this in ${name}`}
            </a>
          </li>
        ))}
      </ol>
    </>
  );
  return (
    <Card title={`Set up ${name}`} id="set-up">
      {kind === 'misconfigured' ? steps : <Fold summary="Show the steps">{steps}</Fold>}
    </Card>
  );
}

interface MarkProps {
  source: FeedbackSourceDetails;
  path: string;
  period: ChosenPeriod;
}

function Mark({ source, path, period }: MarkProps) {
  return (
    <Card title="Classification" id="classification">
      <form method="post" action={path} class="fields">
        <Select
          name="mark"
          label="Classification"
          hint="It applies to all messages from this source, including earlier ones."
          value={source.mark ?? ''}
          options={[['', 'Automatic'], ...Object.entries(MARK_WORDS)]}
        />
        <TextField
          name="label"
          label="Name"
          hint="What your team calls it, such as Newsletter."
          value={source.label ?? ''}
        />
        {Object.entries(period.query).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <Submit>Save</Submit>
      </form>
    </Card>
  );
}

interface AddressesProps {
  source: FeedbackSourceDetails;
  period: ChosenPeriod;
}

function Addresses({ source: { id, address_list, addresses }, period }: AddressesProps) {
  const rest = addresses - address_list.length;
  return (
    <Card title="Addresses" id="addresses">
      <DataTable
        label="Addresses"
        rows={address_list}
        keyOf={({ address }) => address}
        columns={[
          { title: 'Address', cell: ({ address }) => <code>{address}</code> },
          {
            title: 'Host name',
            cell({ address, host }) {
              if (host !== null) return `${host} (confirmed)`;
              return isAddress(address) ? 'None confirmed' : 'Several addresses';
            },
          },
          { title: 'Messages', number: true, cell: ({ messages }) => formatCount(messages) },
          {
            title: 'Passed',
            number: true,
            wide: true,
            cell: ({ passed }) => formatCount(passed),
          },
          { title: 'Last seen', wide: true, cell: ({ last_day }) => dayInWords(last_day) },
          {
            title: 'Reports',
            cell: ({ address }) => (
              <a
                href={`${pathWith(`${FEEDBACK}/sources/${id}`, { ...period.query, address })}#reports`}
                aria-label={`Show reports about ${address}`}
              >
                Show
              </a>
            ),
          },
        ]}
      />
      <p class="small muted">
        Counts since the first report, whatever the chosen period.
        {rest > 0 && ` ${formatCount(rest)} more addresses are not listed.`}
      </p>
    </Card>
  );
}

function Reports({ source, address }: { source: FeedbackSourceDetails; address: string }) {
  const { reports } = source;
  return (
    <Card title={`Latest reports about ${address}`} id="reports">
      {reports.length === 0 ? (
        <p class="muted">{`No report from ${spanOf(source)} names this address.`}</p>
      ) : (
        <DataTable
          label="Reports"
          rows={reports}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `${REPORTS}/${id}`}
          columns={[
            { title: 'Reporter', cell: ({ reporter }) => reporter ?? 'Unknown' },
            { title: 'Day', cell: ({ date }) => dayInWords(date) },
            { title: 'Messages', number: true, cell: ({ messages }) => formatCount(messages) },
          ]}
        />
      )}
    </Card>
  );
}

const spanOf = ({ from, to }: Pick<FeedbackSourceDetails, 'from' | 'to'>): string =>
  `${dayInWords(from)} to ${dayInWords(to)} (UTC)`;

function Signatures({
  source: { signatures, reporters, from, to },
}: {
  source: FeedbackSourceDetails;
}) {
  if (signatures.length === 0) return null;
  return (
    <Card title="Signatures" id="signatures">
      <DataTable
        label="Signatures"
        rows={signatures}
        keyOf={({ domain, selector, result }) => `${domain} ${selector} ${result}`}
        columns={[
          { title: 'Domain', cell: ({ domain }) => domain ?? 'Not signed' },
          { title: 'Selector', cell: ({ selector }) => selector ?? '–' },
          { title: 'Result', cell: ({ result }) => result ?? '–' },
          { title: 'Messages', number: true, cell: ({ messages }) => formatCount(messages) },
        ]}
      />
      <p class="small muted">
        {`Reported by ${reporters.map(({ name }) => name).join(', ')} from ${spanOf({ from, to })}.`}
      </p>
    </Card>
  );
}

const show = page({
  path: PATH,
  operation: 'showFeedbackSource',
  limited: true,
  role: 'viewer',
  summary: 'Show a source that receivers report',
  query: Query,
  handle: (call) => render(call, call.params.id!, { query: call.query }),
});

const save = form({
  path: PATH,
  operation: 'submitFeedbackSource',
  limited: true,
  role: 'member',
  summary: 'Classify a source with the form',
  async handle(call) {
    const id = call.params.id!;
    const field = readForm(call.raw);
    const mark = SOURCE_MARKS.find((one) => one === field('mark')) ?? null;
    const body = { mark, label: field('label') || null };
    const { problem } = await submit({ mark: 'classification', label: 'name' }, () =>
      call.invoke(sourceOperations.update, { params: { id }, body }),
    );
    const query = { days: field('days'), from: field('from'), to: field('to') };
    if (problem) return render(call, id, { query, problem });
    const period = chosenPeriod(call.app, query);
    return seeOther(pathWith(`${FEEDBACK}/sources/${id}`, { ...period.query, done: 'marked' }));
  },
});

export const sourcePages = [show, save];
