/**
 * Compares what the preview removes from HTML files with what the package caniemail reports for the same
 * client: `tsx scripts/preview/compare.ts FOLDER`.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { caniemail, rawData } from 'caniemail';
import { FEATURES } from '../../src/analysis/html/client-support.generated.ts';
import { PREVIEW_CLIENTS } from '../../src/report/preview/clients.ts';
import { previewFor } from '../../src/report/preview/rewrite.ts';

const NAMES = {
  gmail: 'gmail.desktop-webmail',
  gmail_app: 'gmail.android',
  outlook_windows: 'outlook.windows',
  apple_mail: 'apple-mail.macos',
} as const;

const slugs = new Map(rawData.data.map(({ slug, title }) => [title, slug]));
const known = new Set(FEATURES.map(([slug]) => slug));

/** The slugs of the features that the package reports as not supported. */
function reported(html: string, client: (typeof NAMES)[keyof typeof NAMES]): Set<string> {
  const { issues } = caniemail({ clients: [client], html });
  const found = issues.errors.get(client) ?? [];
  return new Set(found.map(({ title }) => slugs.get(title) ?? title));
}

const folder = process.argv[2];
if (!folder) throw new Error('Usage: tsx scripts/preview/compare.ts FOLDER');
const counts = { same: 0, onlyPreview: 0, onlyPackage: 0 };
for (const file of readdirSync(folder).filter((name) => name.endsWith('.html'))) {
  const html = readFileSync(join(folder, file), 'utf8');
  for (const client of PREVIEW_CLIENTS) {
    if (client.id === 'as_sent') continue;
    const { removed } = previewFor(html, client, {
      theme: 'light',
      imageAt: () => ({ kind: 'blocked' }),
    });
    const ours = new Set(removed.map(({ slug }) => slug));
    let theirs: Set<string>;
    try {
      theirs = reported(html, NAMES[client.id]);
    } catch (error) {
      console.log(
        `${file} ${client.id}: the package cannot read it: ${String(error).slice(0, 100)}`,
      );
      continue;
    }
    const onlyPreview = [...ours].filter((slug) => !theirs.has(slug));
    const onlyPackage = [...theirs].filter((slug) => !ours.has(slug));
    counts.same += ours.size - onlyPreview.length;
    counts.onlyPreview += onlyPreview.length;
    counts.onlyPackage += onlyPackage.length;
    if (onlyPreview.length > 0)
      console.log(`${file} ${client.id} only preview: ${onlyPreview.join(' ')}`);
    if (onlyPackage.length > 0)
      console.log(
        `${file} ${client.id} only caniemail: ${onlyPackage.map((slug) => (known.has(slug) ? slug : `(${slug})`)).join(' ')}`,
      );
  }
}
console.log(counts);
