/** Links of a message and what became of asking them: found by address, written in whatever way. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkAnswers } from '../../src/render/link-answers.ts';
import { badReport, unscoredReport } from './reports.ts';

describe('the answer for a link', () => {
  it('is that of its address, without what is never sent', async () => {
    const answerOf = linkAnswers(await badReport());
    assert.equal(answerOf('https://acme.example/autumn')?.status, 'works');
    assert.equal(answerOf('https://ACME.example:443/autumn#top')?.status, 'works');
    const dead = answerOf('https://acme.example/old-offer');
    assert.equal(dead?.status, 'dead');
    assert.match(dead?.reason ?? '', /404/);
  });

  it('is none for what was not looked at', async () => {
    const answerOf = linkAnswers(await badReport());
    assert.deepEqual(
      [answerOf('https://other.example/'), answerOf('mailto:a@b.example')],
      [null, null],
    );
    assert.equal(linkAnswers(await unscoredReport())('https://shop.example/orders/1042'), null);
  });
});
