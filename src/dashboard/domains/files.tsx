/** The files that the service serves for a domain, and the form that edits them: the MTA-STS policy and the BIMI logo. */

import { unpackSvg } from '../../analysis/bimi/svg.ts';
import { domainOr404 } from '../../domains/queries.ts';
import type { Domain } from '../../domains/schema.ts';
import { textOf } from '../../hosted-files/bimi.ts';
import { hostedFileOperations } from '../../hosted-files/feature.ts';
import { filesOf, type HostedFile, hostedFilesOf } from '../../hosted-files/files.ts';
import { DAY_S } from '../../hosted-files/schema.ts';
import { allows } from '../../http/actor.ts';
import { requireLive } from '../../http/authorize.ts';
import { readFormParts, textField } from '../../http/multipart.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import type { HostedFileRow } from '../../store/tables.generated.ts';
import { Copyable } from '../../ui/components.tsx';
import { publishPath } from '../dns/parts.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import {
  Checkbox,
  type FormProblem,
  Notice,
  PageQuery,
  ProblemNotice,
  Select,
  submit,
  TextArea,
  TextField,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { NotSetUp } from '../frame/states.tsx';
import { ifVersion, VersionField, versionOf } from '../frame/version.tsx';
import { DOMAINS } from './list.tsx';
import { AskToVerify } from './states.tsx';

const PATH = `${DOMAINS}/:id/files`;
const { get, update } = hostedFileOperations;

/** On the page of the domain. */
export function HostedFilesCard({ domain, row }: { domain: Domain; row: HostedFileRow }) {
  if (domain.status !== 'verified')
    return (
      <Card title="Hosted files" id="files">
        <AskToVerify domain={domain} to="to serve its MTA-STS policy and BIMI logo from here" />
      </Card>
    );
  return (
    <Card
      title="Hosted files"
      id="files"
      actions={<a href={`${DOMAINS}/${domain.id}/files`}>View files</a>}
    >
      <Served files={filesOf(domain.name, row)} />
    </Card>
  );
}

const Served = ({ files }: { files: HostedFile[] }) =>
  files.length === 0 ? (
    <NotSetUp>No files</NotSetUp>
  ) : (
    <ul class="stack">
      {files.map(({ url }) => (
        <li key={url}>
          <Copyable text={url} label="the URL" />
        </li>
      ))}
    </ul>
  );

interface State {
  done?: string;
  problem?: FormProblem;
  /** What was typed. */
  typed?: Record<string, string>;
}

async function render(call: PageCall, id: string, { done, problem, typed }: State = {}) {
  const params = { id };
  const domain = await domainOr404(call.app.db, id);
  const files = await call.invoke(get, { params });
  const row = await hostedFilesOf(call.app.db, id);
  const served = filesOf(domain.name, row);
  const { logo } = row;
  const isVerified = domain.status === 'verified';
  const canEdit = isVerified && allows(call.actor.role, 'admin') && call.actor.livemode;
  const { mta_sts: policy, mail_servers } = files;
  const value = (name: string, stored: string) => ({ name, value: typed?.[name] ?? stored });
  const errorOf = (name: string) => problem?.fields[name];
  const readable = readableDomain(domain.name);
  return appPage(call, {
    title: `Hosted files of ${readable}`,
    section: 'domains',
    path: `${DOMAINS}/${id}/files`,
    parents: [
      { href: DOMAINS, text: 'Domains' },
      { href: `${DOMAINS}/${id}`, text: readable },
    ],
    status: problem?.status,
    headers: problem?.headers,
    calls: [
      { route: get, params },
      { route: update, params },
    ],
    children: (
      <>
        {done && (
          <Notice tone="pass">Files saved and served. Now publish the changed records.</Notice>
        )}
        {!isVerified && (
          <Notice tone="warn">Nothing is served until the domain is verified.</Notice>
        )}
        <Card
          title={isVerified ? 'Served now' : 'Not served now'}
          id="served"
          actions={
            served.length > 0 && (
              <a class="button primary" href={publishPath(id, { checks: 'mta_sts,bimi' })}>
                Publish records
              </a>
            )
          }
        >
          <Notice tone={/^(Add|Switch to testing)/.test(files.advice) ? 'warn' : 'info'}>
            <strong>MTA-STS:</strong> {files.advice}
          </Notice>
          <div class="logo-row">
            {logo !== null && (
              <img
                src={`data:image/svg+xml;base64,${Buffer.from(logo).toString('base64')}`}
                alt="The logo that is served"
                width={72}
                height={72}
              />
            )}
            <Served files={served} />
          </div>
          {served.length > 0 && (
            <p class="muted">
              Each host needs an HTTPS certificate, at your proxy or at this service.
            </p>
          )}
          {policy && !canEdit && <p>Mail servers: {policy.mx.join(', ')}</p>}
        </Card>
        {canEdit && (
          <Card title="Edit files" id="edit">
            <form
              method="post"
              action={`${DOMAINS}/${id}/files`}
              enctype="multipart/form-data"
              class="fields"
            >
              <ProblemNotice problem={problem ?? null} />
              <VersionField version={versionOf(get, files)} />
              <Select
                {...value('mode', policy?.mode ?? '')}
                label="MTA-STS policy"
                hint="Senders that support MTA-STS deliver only over verified TLS, and only to these mail servers."
                error={errorOf('mta_sts')}
                options={[
                  ['', 'Not served'],
                  ['testing', 'Testing: failures are reported'],
                  ['enforce', 'Enforce: only over verified TLS'],
                  ['none', 'None: senders forget the policy'],
                ]}
              />
              <TextArea
                {...value('mx', (policy?.mx ?? mail_servers ?? []).join('\n'))}
                label="Mail servers"
                hint={`One per line. ${mail_servers === null ? 'The MX lookup failed.' : `MX records: ${mail_servers.join(', ') || 'none'}.`}`}
                mono
              />
              <TextField
                {...value('days', String((policy?.max_age ?? 7 * DAY_S) / DAY_S))}
                type="number"
                min={1}
                max={365}
                label="Lifetime of the policy (days)"
                hint="How long senders remember it. A week is enough for testing. To enforce it, choose at least a month."
              />
              <TextField
                name="logo"
                type="file"
                label="BIMI logo"
                hint="SVG Tiny PS: square, at most 32 KB, with a title. Not needed with a new certificate, because it contains the logo."
                error={errorOf('bimi.logo')}
              />
              <TextField
                name="certificate"
                type="file"
                label="Mark certificate (VMC or CMC)"
                hint="PEM, followed by the certificates of its authorities. Gmail and Apple Mail show no logo without it. Never upload a private key."
                error={errorOf('bimi.certificate')}
              />
              {logo !== null && (
                <Checkbox
                  name="remove_bimi"
                  label="Remove the logo and its certificate"
                  hint="Remove the DNS record first."
                  checked={false}
                />
              )}
              <button type="submit" class="button primary">
                Save files
              </button>
            </form>
          </Card>
        )}
      </>
    ),
  });
}

const show = page({
  path: PATH,
  operation: 'showHostedFiles',
  limited: true,
  role: 'member',
  summary: 'Show the hosted files of a domain',
  query: PageQuery,
  handle: (call) => render(call, call.params.id!, call.query),
});

const LABELS = { mta_sts: 'policy', 'bimi.logo': 'logo', 'bimi.certificate': 'certificate' };

const save = form({
  path: PATH,
  operation: 'submitHostedFiles',
  role: 'admin',
  summary: 'Change the hosted files of a domain with the form',
  consumes: { type: 'multipart/form-data', maxBytes: () => 512 * 1024 },
  async handle(call) {
    requireLive(call.actor);
    const id = call.params.id!;
    const parts = readFormParts(call.raw, call.headers.get('content-type'));
    const field = (name: string) => textField(parts, name);
    const [mode, mx, days] = [field('mode'), field('mx'), field('days')];
    const fileOf = (name: string) => {
      const { filename, bytes } = parts.get(name) ?? {};
      // A logo is decompressed, as in its certificate. What is no text is refused as such.
      return filename && bytes ? (textOf(unpackSvg(bytes) ?? bytes) ?? '\0') : undefined;
    };
    const bimi = { logo: fileOf('logo'), certificate: fileOf('certificate') };
    const policy = {
      mode: mode as 'none',
      mx: mx.split(/[\s,]+/).filter(Boolean),
      max_age: Number(days) * DAY_S,
    };
    const { problem } = await submit(LABELS, () =>
      call.invoke(update, {
        params: { id },
        headers: ifVersion(field('version')),
        body: {
          mta_sts: mode ? policy : null,
          bimi: field('remove_bimi') ? null : (bimi.logo ?? bimi.certificate) ? bimi : undefined,
        },
      }),
    );
    if (problem) return render(call, id, { problem, typed: { mode, mx, days } });
    return seeOther(`${DOMAINS}/${id}/files?done=saved`);
  },
});

export const hostedFilePages = [show, save];
