/** The "?" of each page: every page with the navigation has one, and each of its links leads to a heading. */

// @one-database: about documents.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROUTES } from '../../src/features.ts';
import { chapterOf } from '../../src/help/chapters.ts';
import { helpPanelOf } from '../../src/help/panels.ts';
import { memberOf } from '../dashboard/member.ts';
import { getPage, mainOf } from '../dashboard/pages.ts';
import { startTestService } from '../helpers/app.ts';

/** Those that are for other programs, or ask one question outside of the navigation. */
const WITHOUT_NAVIGATION = /^\/(v1|oauth)\//;

const PAGES = ROUTES.filter(
  ({ method, role, produces, path, identifiesMembers }) =>
    method === 'GET' &&
    (role !== 'public' || identifiesMembers) &&
    produces?.includes('text/html') &&
    !WITHOUT_NAVIGATION.test(path),
).map(({ path }) => path);

test('Every page with the navigation has three sentences, questions and a chapter', () => {
  assert.ok(PAGES.length > 50);
  for (const path of PAGES) {
    const panel = helpPanelOf(`${path.replaceAll(/:\w+/g, 'an_id')}?a=b`);
    assert.ok(panel, path);
    const sentences = panel.text.match(/[.!?](?= |$)/g) ?? [];
    // `.eml` is no end of a sentence.
    assert.equal(sentences.length, 3, `${path}: ${panel.text}`);
    const questions = panel.links.filter(({ text }) => text.endsWith('?'));
    assert.ok(questions.length >= 2 && questions.length <= 4, path);
    const [chapter] = panel.links.slice(questions.length);
    assert.equal(panel.links.length, questions.length + 1, path);
    assert.match(chapter!.href, /^\/help\/[\w-]+$/, path);
  }
});

test('Every link of every panel leads to a chapter and one of its headings', () => {
  for (const path of PAGES)
    for (const { href } of helpPanelOf(path.replaceAll(/:\w+/g, 'an_id'))!.links) {
      const [, name, anchor] = /^\/help\/([\w-]+)(?:#(.+))?$/.exec(href)!;
      const { blocks } = chapterOf(name!)!;
      const isThere = blocks.some((block) => block.kind === 'heading' && block.id === anchor);
      assert.ok(anchor === undefined || isThere, `${path}: ${href}`);
    }
});

test('The most specific panel is shown, and none on pages that do not exist', () => {
  const title = (path: string) => helpPanelOf(path)?.title;
  assert.equal(title('/'), 'Overview');
  assert.equal(title('/tests'), 'Tests');
  assert.equal(title('/tests?q=a'), 'Tests');
  assert.equal(title('/tests/new'), 'A new test');
  assert.equal(title('/tests/test_1'), 'A test');
  assert.equal(title('/domains/dom_1/files'), 'Hosted files');
  assert.equal(title('/testsuite'), undefined);
  assert.equal(title('/nothing'), undefined);
});

test('The header of a page has its panel; members and visitors can read the chapters', async (t) => {
  const service = await startTestService(t);
  const owner = await memberOf(service, 'owner@example.com');
  const { html } = await owner.get('/domains');
  const [panel = ''] = /<div id="help-menu"[\s\S]*?<\/div>/.exec(html) ?? [];
  assert.match(panel, /Add the domains after the @ in your From addresses/);
  assert.match(panel, /<a href="\/help\/monitoring#add-a-domain">How do I add a domain\?<\/a>/);
  assert.match(panel, /<a href="\/help\/monitoring">Domains, monitors and alerts<\/a>/);

  for (const get of [owner.get, (path: string) => getPage(service, path)]) {
    const list = await get('/help');
    assert.equal(list.status, 200);
    assert.match(list.html, /<a href="\/help\/install">Install<\/a>/);
    const chapter = await get('/help/scoring');
    assert.match(chapter.html, /<h1>Scoring<\/h1>/);
    assert.match(chapter.html, /<h2 id="grades">Grades<\/h2>/);
    assert.match(chapter.html, /On this page<\/summary>[\s\S]*?href="#caps"/);
    // Nothing is loaded from elsewhere, and there is no picture.
    assert.doesNotMatch(chapter.html, /<(img|iframe|object)|(src|action)="(https?:)?\/\//);
  }
  assert.match((await getPage(service, '/help/scoring')).html, /href="\/docs">API reference/);
  assert.match((await getPage(service, '/sign-in')).html, /<a href="\/help">Help<\/a>/);
  assert.equal((await getPage(service, '/help/README')).status, 404);
  assert.equal((await owner.get('/help/nothing')).status, 404);
  assert.match(
    (await owner.get('/nothing', { accept: 'text/html' })).html,
    /<a class="button help-button[^>]* href="\/help"/,
  );
  assert.match(mainOf((await owner.get('/help/configuration')).html), /DELIVERABILITY_DATA_DIR/);
});

test('The preview surface serves no help', async (t) => {
  const service = await startTestService(t, { env: { DELIVERABILITY_SURFACE: 'preview' } });
  assert.equal((await getPage(service, '/help')).status, 404);
});
