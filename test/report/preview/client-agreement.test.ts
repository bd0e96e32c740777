/** The preview removes what the check `client_support` finds, and nothing else. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clientSupport } from '../../../src/analysis/checks/client-support.ts';
import { FEATURES } from '../../../src/analysis/html/client-support.generated.ts';
import {
  PREVIEW_CLIENTS,
  type PreviewClient,
  tableIndex,
} from '../../../src/report/preview/clients.ts';
import { previewFor } from '../../../src/report/preview/rewrite.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const SELECTORS: Record<string, string> = {
  '[]': 'p[title]',
  '.a.b': '.a.b',
  '*': '*',
};

/** HTML that uses the feature of a marker, as few others as possible. */
function exampleOf(marker: string): string {
  const [kind, name = ''] = marker.split(' ');
  const inline = (css: string) => `<p style="${css}">Text</p>`;
  const sheet = (selector: string) => `<style>${selector}{text-align:left}</style><p>Text</p>`;
  if (kind === 'selector')
    return name === 'nested'
      ? '<style>p{text-align:left;i{text-align:left}}</style><p>Text</p>'
      : sheet(SELECTORS[name] ?? `p ${name} i`);
  if (kind === 'image')
    return name === 'base64'
      ? '<img src="data:image/png;base64,AAAA" alt="">'
      : `<img src="https://acme.example/a.${name}" alt="">`;
  if (kind === 'link') return '<a href="#top">Up</a>';
  if (kind === 'word') return inline(name.startsWith('!') ? `width:1px ${name}` : `width:${name}`);
  if (kind === 'unit') return inline(`width:1${name}`);
  if (marker.startsWith('<')) return `${marker}Text${marker.replace('<', '</')}`;
  if (marker.startsWith('[')) return `<p ${marker.slice(1, -1)}="x">Text</p>`;
  if (marker.startsWith('@media('))
    return `<style>@media (${marker.slice(7, -1)}:1){p{text-align:left}}</style><p>Text</p>`;
  if (marker === '@import') return '<style>@import "a.css";</style><p>Text</p>';
  if (marker.startsWith('@')) return `<style>${marker} x{p{text-align:left}}</style><p>Text</p>`;
  if (marker.startsWith(':')) return sheet(`p${marker}`);
  if (marker.endsWith('()')) return inline(`width:${marker.slice(0, -1)}1)`);
  if (marker === '--*') return inline('--x:1');
  return inline(marker.includes(':') ? marker : `${marker}:1`);
}

/** The slugs of the features that the check finds. */
async function featuresIn(html: string): Promise<string[]> {
  const message = goodMessage({ 'Content-Type': 'text/html; charset=utf-8' }, `${html}\n`);
  const { evidence } = await runCheck(clientSupport, { message });
  const found = (evidence?.features ?? []) as { url: string }[];
  return found.map(({ url }) => url.split('/').at(-2)!).sort();
}

const preview = (html: string, client: PreviewClient) =>
  previewFor(html, client, { theme: 'light', imageAt: () => ({ kind: 'blocked' }) });
const slugsOf = (html: string, client: PreviewClient) =>
  preview(html, client)
    .removed.map(({ slug }) => slug)
    .sort();
/** Without the styles of the preview itself. */
const bodyOf = (html: string) => html.replace(/<style>[^<]*<\/style>/, '');

const levelOf = (slug: string, client: PreviewClient): string => {
  const levels = FEATURES.find(([name]) => name === slug)?.[3] ?? '';
  return levels[tableIndex(client)] ?? '';
};

const CLIENTS = PREVIEW_CLIENTS.filter(({ tableName }) => tableName !== null);
const EXAMPLES = FEATURES.flatMap(([slug, , markers]) =>
  markers.map((marker) => ({ slug, marker, html: exampleOf(marker) })),
);

test('every marker of the table has an example in which the check finds its feature', async () => {
  for (const { slug, marker, html } of EXAMPLES)
    assert.ok((await featuresIn(html)).includes(slug), marker);
});

for (const client of CLIENTS)
  test(`${client.name}: each feature without support is listed, and the check no longer finds it`, async () => {
    let tested = 0;
    for (const { slug, marker, html } of EXAMPLES) {
      if (levelOf(slug, client) !== 'n') continue;
      tested += 1;
      const { html: shown, removed } = preview(html, client);
      const feature = removed.find((entry) => entry.slug === slug);
      assert.ok(feature, `${marker} is listed`);
      assert.ok(feature.missingIn.includes(client.tableName!), marker);
      assert.equal(feature.places[0]?.line, 1);
      assert.ok(!(await featuresIn(bodyOf(shown))).includes(slug), `${marker} is in ${shown}`);
    }
    assert.ok(tested > 0);
  });

/** What a preview never writes, whatever the client supports, or writes in another way. */
const REWRITTEN = new Set([
  // They load something, run something or wait for input.
  '@import',
  '@font-face',
  '[srcset]',
  '<link>',
  '<base>',
  '<object>',
  '<audio>',
  '<video>',
  '<button>',
  '<form>',
  '<select>',
  '<textarea>',
  '[required]',
  '[loading]',
  // Text that moves.
  '<marquee>',
  // Links have no `href`, and the color scheme is that of the theme.
  ':link',
  ':visited',
  'link #',
  '@media(prefers-color-scheme)',
  // The images of this test are blocked.
  ...EXAMPLES.filter(({ marker }) => /^image (?!base64)/.test(marker)).map(({ marker }) => marker),
]);

for (const client of PREVIEW_CLIENTS)
  test(`${client.name}: a feature with full, partial or unknown support stays and is not listed`, async () => {
    for (const { slug, marker, html } of EXAMPLES) {
      if (levelOf(slug, client) === 'n') continue;
      const { html: shown, removed } = preview(html, client);
      assert.ok(!removed.some((entry) => entry.slug === slug), `${marker} is not listed`);
      const isAlone = (await featuresIn(html)).every((other) => levelOf(other, client) !== 'n');
      if (REWRITTEN.has(marker) || !isAlone) continue;
      assert.ok((await featuresIn(bodyOf(shown))).includes(slug), `${marker} is in ${shown}`);
    }
  });

test('the list is exactly what the check finds and the client lacks, for any mix of features', async () => {
  const mixes = fc.subarray(EXAMPLES, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(mixes, fc.constantFrom(...CLIENTS), async (examples, client) => {
      // Style elements come first, where Gmail keeps them.
      const html = examples
        .map((example) => example.html)
        .sort((a, b) => Number(b.startsWith('<style')) - Number(a.startsWith('<style')))
        .join('\n')
        .replaceAll('</style><p>Text</p>', '</style>');
      const found = await featuresIn(html);
      if (found.length >= 20) return;
      const listed = slugsOf(html, client).filter((slug) => !slug.startsWith('gmail-'));
      assert.deepEqual(
        listed,
        found.filter((slug) => levelOf(slug, client) === 'n'),
      );
    }),
    { numRuns: 300 },
  );
});
