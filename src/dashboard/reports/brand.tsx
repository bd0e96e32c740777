/** The brand of the team: what people outside it see instead of our name and color, and the form that changes it. */

import { brandOperations } from '../../brand/feature.ts';
import { MAX_LOGO_BYTES } from '../../brand/logo.ts';
import { allows } from '../../http/actor.ts';
import { readFormParts, textField } from '../../http/multipart.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import {
  Checkbox,
  type FormProblem,
  Notice,
  PageQuery,
  ProblemNotice,
  submit,
  TextField,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { ifVersion, VersionField, versionOf } from '../frame/version.tsx';
import { ReportTabs } from './tabs.tsx';

const PATH = '/reports/brand';
const { get, update } = brandOperations;
const LABELS = { name: 'name', color: 'color', logo: 'logo' };

interface State {
  done?: string;
  problem?: FormProblem;
  typed?: Record<'name' | 'color', string>;
}

async function render(call: PageCall, { done, problem, typed }: State = {}) {
  const brand = await call.invoke(get);
  const { name, color, text_colors: colors, logo_url: logo } = brand;
  const errors = problem?.fields ?? {};
  const isChanged = colors && (colors.light !== color || colors.dark !== color);
  return appPage(call, {
    title: 'Brand',
    section: 'reports',
    path: PATH,
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: get }, { route: update }],
    children: (
      <>
        <ReportTabs current="brand" />
        {done && <Notice tone="pass">Brand saved. Shared links show it at once.</Notice>}
        <Card title="Your brand" id="brand">
          {logo && <img class="brand-logo" src={logo} alt={name ?? ''} />}
          <p class="small muted">
            {name === null
              ? 'Without a brand, shared links and reports show our name.'
              : 'Shared links, their PDFs, and scheduled reports show this, above a small “Checked with Deliverability”. The application itself does not change.'}{' '}
            {isChanged &&
              `${color} cannot be read everywhere: text is ${colors.light} on white, and ${colors.dark} on black.`}
          </p>
        </Card>
        {allows(call.actor.role, 'admin') && call.actor.livemode && (
          <Card title="Edit brand" id="edit">
            <form method="post" action={PATH} enctype="multipart/form-data" class="fields">
              <ProblemNotice problem={problem ?? null} />
              <VersionField version={versionOf(get, brand)} />
              <TextField
                name="name"
                label="Name"
                hint="Such as the name of your agency. Also the sender name of scheduled reports. Leave empty to remove the brand."
                value={typed?.name ?? name ?? ''}
                error={errors.name}
              />
              <TextField
                name="color"
                label="Color (optional)"
                hint="For links and buttons, such as #0a7d5a. If it is too light or too dark to read, a similar one is used."
                value={typed?.color ?? color ?? ''}
                error={errors.color}
              />
              <TextField
                name="logo"
                type="file"
                label="Logo (optional)"
                hint={`PNG or JPEG, at most ${MAX_LOGO_BYTES / 1024} KB. It is shown on white, beside the name, and at most 40 pixels high.`}
                error={errors.logo}
              />
              {logo && <Checkbox name="remove_logo" label="Remove the logo" checked={false} />}
              <button type="submit" class="button primary">
                Save brand
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
  operation: 'showBrand',
  role: 'viewer',
  summary: 'Show the brand of your team',
  query: PageQuery,
  handle: (call) => render(call, call.query),
});

const save = form({
  path: PATH,
  operation: 'submitBrand',
  role: 'admin',
  summary: 'Change the brand of your team with the form',
  consumes: { type: 'multipart/form-data', maxBytes: () => 512 * 1024 },
  async handle(call) {
    const parts = readFormParts(call.raw, call.headers.get('content-type'));
    const [name, color] = [textField(parts, 'name').trim(), textField(parts, 'color').trim()];
    const { filename, bytes } = parts.get('logo') ?? {};
    const logo = filename && bytes ? Buffer.from(bytes).toString('base64') : undefined;
    const { problem } = await submit(LABELS, () =>
      call.invoke(update, {
        headers: ifVersion(textField(parts, 'version')),
        body: {
          name: name || null,
          color: color && name ? color : null,
          logo: name === '' || textField(parts, 'remove_logo') ? null : logo,
        },
      }),
    );
    if (problem) return render(call, { problem, typed: { name, color } });
    return seeOther(`${PATH}?done=saved`);
  },
});

export const brandPages = [show, save];
