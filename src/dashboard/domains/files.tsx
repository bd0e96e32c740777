/** The files that the service serves for a domain, and the page that edits them: the MTA-STS policy and the BIMI logo. */

import { unpackSvg } from '../../analysis/bimi/svg.ts';
import { STS_MODES } from '../../analysis/checks/mta-sts.ts';
import { domainOr404 } from '../../domains/queries.ts';
import type { Domain } from '../../domains/schema.ts';
import { textOf } from '../../hosted-files/bimi.ts';
import { hostedFileOperations } from '../../hosted-files/routes.ts';
import type { HostedFiles } from '../../hosted-files/schema.ts';
import { hostedFilesOf, policyOf } from '../../hosted-files/stored.ts';
import { allows } from '../../http/actor.ts';
import { readFormParts, textField } from '../../http/multipart.ts';
import { invalidParams } from '../../lib/errors.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import type { HostedFileRow } from '../../store/tables.generated.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import { publishPath } from '../dns/parts.tsx';
import { Confirm } from '../frame/action.tsx';
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
  TextArea,
  TextField,
} from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { NotSetUp } from '../frame/states.tsx';
import { Day } from '../frame/times.tsx';
import { VersionField, versionOf } from '../frame/version.tsx';
import { DnsRecord } from './dns-record.tsx';
import { DOMAINS } from './list.tsx';

const PATH = `${DOMAINS}/:id/files`;
const pathOf = (id: string): string => `${DOMAINS}/${id}/files`;
const { get, update } = hostedFileOperations;

const MODES: Record<(typeof STS_MODES)[number], string> = {
  testing: 'Testing: senders report failures, and still deliver',
  enforce: 'Enforce: senders deliver only over verified TLS',
  none: 'None: senders forget the policy',
};

/** On the page of the domain. */
export function HostedFilesCard({ domain, row }: { domain: Domain; row: HostedFileRow }) {
  if (domain.status !== 'verified') return null;
  const policy = policyOf(row);
  return (
    <Card
      title="Files that go with records"
      id="files"
      actions={<a href={pathOf(domain.id)}>{policy || row.logo ? 'All files' : 'Set up'}</a>}
    >
      <Facts
        items={[
          ['MTA-STS policy', policy ? policy.mode : <NotSetUp>Not served here</NotSetUp>],
          [
            'BIMI logo',
            row.logo === null ? (
              <NotSetUp>Not served here</NotSetUp>
            ) : row.certificate ? (
              'With a certificate'
            ) : (
              'Without a certificate'
            ),
          ],
        ]}
      />
    </Card>
  );
}

interface State {
  done?: string;
  problem?: { of: 'policy' | 'logo'; problem: FormProblem };
  typed?: Typed;
}

const DONE: Record<string, string> = {
  policy: 'Policy saved. It is served now. If its id is new, publish the record next.',
  logo: 'Logo saved. It is served now. Publish its record next.',
  removed: 'Removed.',
};

async function render(call: PageCall, id: string, { done = '', problem, typed }: State = {}) {
  const params = { id };
  const domain = await domainOr404(call.app.db, id);
  const files = await call.invoke(get, { params });
  const row = await hostedFilesOf(call.app.db, id);
  const readable = readableDomain(domain.name);
  const canEdit =
    allows(call.actor.role, 'admin') && call.actor.livemode && domain.status === 'verified';
  const parts = { id, files, canEdit, version: versionOf(get, files) };
  const problemOf = (name: string) => (problem?.of === name ? problem.problem : null);
  return appPage(call, {
    title: `Files of ${readable}`,
    section: 'domains',
    path: pathOf(id),
    parents: [
      { href: DOMAINS, text: 'Domains' },
      { href: `${DOMAINS}/${id}`, text: readable },
    ],
    status: problem?.problem.status,
    headers: problem?.problem.headers,
    calls: [
      { route: get, params },
      { route: update, params },
    ],
    children: (
      <>
        {Object.hasOwn(DONE, done) && <Notice tone="pass">{DONE[done]}</Notice>}
        {domain.status !== 'verified' && (
          <Notice tone="warn">
            Nothing is served until the domain is verified.{' '}
            <a href={`${DOMAINS}/${id}`}>Verify it</a>
          </Notice>
        )}
        <PolicyCard {...parts} typed={typed} problem={problemOf('policy')} />
        <LogoCard {...parts} logo={row.logo} problem={problemOf('logo')} />
        {files.records.length > 0 && <Records {...parts} domain={domain.name} />}
      </>
    ),
  });
}

interface PartProps {
  id: string;
  files: HostedFiles;
  canEdit: boolean;
  version: string;
}

const SECONDS_OF_DAY = 86_400;
/** RFC 8461 §3.2 recommends weeks. */
const DEFAULT_DAYS = 7;

function PolicyCard(props: PartProps & { typed?: Typed; problem: FormProblem | null }) {
  const { id, files, canEdit, version, typed, problem } = props;
  const { mta_sts: policy, mail_servers, unlisted, advice } = files;
  const values = typed ?? {
    mode: policy?.mode ?? 'testing',
    mx: (policy?.mx ?? mail_servers ?? []).join('\n'),
    days: String((policy?.max_age ?? DEFAULT_DAYS * SECONDS_OF_DAY) / SECONDS_OF_DAY),
  };
  return (
    <Card title="MTA-STS policy" id="policy">
      <p class="muted">
        Tells senders to deliver mail to this domain only over verified TLS, and only to the mail
        servers in the policy.
      </p>
      {unlisted.length > 0 ? (
        <Notice tone={policy?.mode === 'enforce' ? 'fail' : 'warn'}>
          The policy doesn’t list {unlisted.join(', ')}, which DNS names as a mail server.{' '}
          {advice.text}
        </Notice>
      ) : (
        <Notice tone={advice.mode === 'testing' && policy ? 'warn' : 'info'}>{advice.text}</Notice>
      )}
      {mail_servers === null && (
        <Notice tone="warn">The MX records could not be looked up. Reload the page.</Notice>
      )}
      {policy && (
        <Facts
          items={[
            ['Mode', policy.mode],
            ['Served at', <Copyable key="url" text={policy.url} label="the URL" />],
            ['Id', <code key="id">{policy.id}</code>],
            canEdit
              ? ['Last change', <Day key="day" day={policy.changed_at.slice(0, 10)} />]
              : ['Mail servers', policy.mx.join(', ')],
          ]}
        />
      )}
      {canEdit && (
        <form method="post" action={pathOf(id)} class="fields">
          <ProblemNotice problem={problem} />
          <VersionField version={version} />
          <Select
            name="mode"
            label="Mode"
            value={values.mode}
            options={STS_MODES.toReversed()
              .toSorted((a, b) => Number(a === 'none') - Number(b === 'none'))
              .map((mode) => [mode, MODES[mode]])}
          />
          <TextArea
            name="mx"
            label="Mail servers"
            hint={`One per line. *.example.com stands for any one label. DNS now: ${mail_servers?.join(', ') || 'none'}.`}
            value={values.mx}
            error={problem?.fields.mta_sts}
            mono
          />
          <TextField
            name="days"
            label="Senders remember it for (days)"
            type="number"
            min={1}
            max={365}
            value={values.days}
            required
            hint="A week while testing. A month or more once it is enforced."
          />
          <Submit>{policy ? 'Save policy' : 'Serve policy'}</Submit>
        </form>
      )}
      {canEdit && policy && policy.mode !== 'enforce' && (
        <Confirm
          action={`${pathOf(id)}/remove`}
          fields={{ file: 'mta_sts' }}
          label="Remove policy…"
          warning="Remove its DNS record first. Senders that remember the policy keep it until it ends."
          confirm="Remove policy"
        />
      )}
    </Card>
  );
}

interface LogoProps extends PartProps {
  logo: string | null;
  problem: FormProblem | null;
}

function LogoCard({ id, files, canEdit, version, logo, problem }: LogoProps) {
  const { bimi } = files;
  return (
    <Card title="BIMI logo" id="logo">
      <p class="muted">
        Mailbox providers show it next to mail that passes DMARC. Gmail and Apple Mail need a mark
        certificate (VMC or CMC) for it.
      </p>
      {bimi && logo !== null && (
        <div class="logo-row">
          <img
            src={`data:image/svg+xml;base64,${Buffer.from(logo).toString('base64')}`}
            alt="The logo as receivers get it"
            width={72}
            height={72}
          />
          <Facts
            items={[
              ['Logo', <Copyable key="logo" text={bimi.logo_url} label="the URL of the logo" />],
              [
                'Certificate',
                bimi.certificate_url === null ? (
                  <NotSetUp>None</NotSetUp>
                ) : (
                  <Copyable text={bimi.certificate_url} label="the URL of the certificate" />
                ),
              ],
              [
                'Expires',
                bimi.certificate_expires_at && <Expiry at={bimi.certificate_expires_at} />,
              ],
            ]}
          />
        </div>
      )}
      {!bimi && (
        <p>
          <NotSetUp>No logo.</NotSetUp>
        </p>
      )}
      {canEdit && (
        <form
          method="post"
          action={`${pathOf(id)}/logo`}
          enctype="multipart/form-data"
          class="fields"
        >
          <ProblemNotice problem={problem} />
          <VersionField version={version} />
          <FileField
            name="logo"
            label="Logo"
            accept=".svg,.svgz,image/svg+xml"
            hint="SVG Tiny PS: square, at most 32 KB, with a title. Leave it out to use the logo in the certificate."
            error={problem?.fields['bimi.logo']}
          />
          <FileField
            name="certificate"
            label="Mark certificate (optional)"
            accept=".pem,.crt,.cer"
            hint="PEM, followed by the certificates of its authorities. Never a private key."
            error={problem?.fields['bimi.certificate']}
          />
          <Submit secondary={bimi !== null}>{bimi ? 'Replace' : 'Serve logo'}</Submit>
        </form>
      )}
      {canEdit && bimi && (
        <Confirm
          action={`${pathOf(id)}/remove`}
          fields={{ file: 'bimi' }}
          label="Remove logo…"
          warning="The logo and its certificate are no longer served. Remove the DNS record first."
          confirm="Remove logo"
        />
      )}
    </Card>
  );
}

function Expiry({ at }: { at: string }) {
  const isOver = Date.parse(at) <= useReader().now;
  return (
    <>
      <Day day={at.slice(0, 10)} /> {isOver && <StateMark state="fail" word="Expired" />}
    </>
  );
}

interface FileFieldProps {
  name: string;
  label: string;
  hint: string;
  accept: string;
  error: string | undefined;
}

function FileField({ name, label, hint, accept, error }: FileFieldProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <p id={`${name}-hint`} class="hint">
        {hint}
      </p>
      {error && (
        <p id={`${name}-wrong`} class="wrong">
          <span class="visually-hidden">Error: </span>
          {error}
        </p>
      )}
      <input
        id={name}
        name={name}
        type="file"
        accept={accept}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={error ? `${name}-wrong ${name}-hint` : `${name}-hint`}
      />
    </div>
  );
}

function Records({ id, files, canEdit, domain }: PartProps & { domain: string }) {
  return (
    <Card
      title="DNS records"
      id="records"
      actions={
        <a class="button primary" href={publishPath(id, { checks: 'mta_sts,bimi' })}>
          {canEdit ? 'Publish these records' : 'Compare with DNS'}
        </a>
      }
    >
      <p>
        Publish them after the files are saved. The hosts also need a certificate for HTTPS: see{' '}
        <code>docs/hosted-files.md</code>.
      </p>
      {files.records.map((record) => (
        <div key={record.name} class="stack">
          <p class="small muted">{record.purpose}</p>
          <DnsRecord record={record} domain={domain} />
        </div>
      ))}
    </Card>
  );
}

const show = page({
  path: PATH,
  operation: 'showHostedFiles',
  role: 'member',
  summary: 'Show the hosted files of a domain',
  query: PageQuery,
  handle: (call) => render(call, call.params.id!, call.query),
});

interface Typed {
  mode: string;
  mx: string;
  days: string;
}

const savePolicy = operationForm({
  path: PATH,
  operation: 'submitMtaStsPolicy',
  summary: 'Change the MTA-STS policy of a domain with the form',
  route: update,
  read(raw): Typed {
    const field = readForm(raw);
    return { mode: field('mode'), mx: field('mx'), days: field('days') };
  },
  body: ({ mode, mx, days }) => ({
    mta_sts: {
      mode: mode as 'none',
      mx: mx.split(/[\s,]+/).filter(Boolean),
      max_age: Number(days) * SECONDS_OF_DAY,
    },
  }),
  labels: { mta_sts: 'policy' },
  next: ({ domain_id }) => `${pathOf(domain_id)}?done=policy`,
  onProblem: (call, problem, typed) =>
    render(call, call.params.id!, { typed, problem: { of: 'policy', problem } }),
});

/** The files are 32 KB and a chain of certificates with the same logo. */
const MAX_FORM_BYTES = 256 * 1024;

const saveLogo = form({
  path: `${PATH}/logo`,
  operation: 'submitBimiLogo',
  role: 'admin',
  summary: 'Change the BIMI logo of a domain with the form',
  consumes: { type: 'multipart/form-data', maxBytes: () => MAX_FORM_BYTES },
  async handle(call) {
    const id = call.params.id!;
    const { problem } = await submit(
      { 'bimi.logo': 'logo', 'bimi.certificate': 'certificate' },
      async () => {
        const parts = readFormParts(call.raw, call.headers.get('content-type'));
        const [logo, certificate] = ['logo', 'certificate'].map((name) => {
          const part = parts.get(name);
          return part?.filename && part.bytes.length > 0 ? readText(name, part.bytes) : undefined;
        });
        const version = textField(parts, 'version').replace(/[^\x21-\x7e]/g, '?');
        return call.invoke(update, {
          params: { id },
          headers: version ? { 'if-match': version } : {},
          body: { bimi: { logo, certificate } },
        });
      },
    );
    if (problem) return render(call, id, { problem: { of: 'logo', problem } });
    return seeOther(`${pathOf(id)}?done=logo`);
  },
});

/** A compressed logo is served as it is in the certificate: decompressed. */
function readText(name: string, bytes: Uint8Array): string {
  const unpacked = name === 'logo' ? unpackSvg(bytes) : bytes;
  const text = unpacked && textOf(unpacked);
  if (text !== null) return text;
  throw invalidParams([
    {
      param: `bimi.${name}`,
      code: 'invalid',
      message: 'is too large, or not a text file in UTF-8',
    },
  ]);
}

const remove = operationForm({
  path: `${PATH}/remove`,
  operation: 'submitHostedFileRemoval',
  summary: 'Remove a hosted file of a domain with the button',
  route: update,
  read: (raw) => readForm(raw)('file'),
  body: (file) => ({ [file === 'bimi' ? 'bimi' : 'mta_sts']: null }),
  next: ({ domain_id }) => `${pathOf(domain_id)}?done=removed`,
  onProblem: (call, problem, file) =>
    render(call, call.params.id!, {
      problem: { of: file === 'bimi' ? 'logo' : 'policy', problem },
    }),
});

export const hostedFilePages = [show, savePolicy, saveLogo, remove];
