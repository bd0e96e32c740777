/** The sandboxed document of a message: it removes what its policy cannot prevent. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkResults } from '../../../src/report/document/message.ts';
import { messageDocument } from '../../../src/report/html/message-frame.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { badReport, unscoredReport } from '../reports.ts';

const START = messageDocument('');
const defused = (html: string): string => messageDocument(html).slice(START.length);

describe('Message preview document', () => {
  it('starts with its Content-Security-Policy', () => {
    assert.match(
      START,
      /^<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:;/,
    );
  });

  it('disables elements that connect before the policy applies', () => {
    for (const html of [
      '<link rel=preconnect href=x>',
      '<LINK\nrel=dns-prefetch>',
      '<link/rel=preconnect>',
      '<iframe srcdoc="x">',
      '<object data=x>',
      '<embed\tsrc=x>',
      '<base href=x>',
      '<meta http-equiv=refresh>',
      '<frame src=x>',
      '<frame>',
    ])
      assert.match(defused(html), /^<x-/, html);
  });

  it('keeps all other elements', () => {
    for (const html of ['<linker>', '<p>a < b</p>', '<frameset>', '<img src="data:,">', '<header>'])
      assert.equal(defused(html), html);
  });

  it('disables all links', () => {
    for (const html of [
      '<a href="x">',
      '<a/HREF=x>',
      '<svg><a xlink:href="x">',
      "<area x=''href=x>",
    ]) {
      assert.doesNotMatch(defused(html), /href/i);
      assert.equal(defused(html).replaceAll('\u200b', ''), html);
    }
    // A tag that looks like an image, to hide the attribute in it.
    const disguised = '<a data:image/png;base64,/href=http://x>';
    assert.equal(defused(disguised), '<a data:image/png;base64,/%68ref=http://x>');
  });

  it('keeps images whose data contains link-like letters', async () => {
    const octets = Buffer.from('hreFHREFhref', 'base64');
    const uri = `data:image/png;base64,${octets.toString('base64')}`;
    const kept = defused(`<img src="${uri}">`).split('"')[1]!;
    assert.doesNotMatch(kept, /href/i);
    assert.deepEqual(Buffer.from(await (await fetch(kept)).arrayBuffer()), octets);
  });

  it('is built in linear time', () => {
    for (const html of [
      'data:a'.repeat(300_000),
      `data:${'a'.repeat(2_000_000)}`,
      '<'.repeat(2_000_000),
    ]) {
      const started = cpuTime();
      messageDocument(html);
      assert.ok(cpuTime() - started < 2000);
    }
  });
});

// The results of link checks, found by URL in any notation.

describe('Link status in the message preview', () => {
  it('is found by normalized URL', async () => {
    const answerOf = linkResults(await badReport());
    assert.equal(answerOf('https://acme.example/autumn')?.status, 'works');
    assert.equal(answerOf('https://ACME.example:443/autumn#top')?.status, 'works');
    const dead = answerOf('https://acme.example/old-offer');
    assert.equal(dead?.status, 'dead');
    assert.match(dead?.reason ?? '', /404/);
  });

  it('is absent for links that were not checked', async () => {
    const answerOf = linkResults(await badReport());
    assert.deepEqual(
      [answerOf('https://other.example/'), answerOf('mailto:a@b.example')],
      [null, null],
    );
    assert.equal(linkResults(await unscoredReport())('https://shop.example/orders/1042'), null);
  });
});
