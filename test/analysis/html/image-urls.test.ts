/** Which images of a message are on web servers. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bestCandidate, imageUrlOf, wantedImages } from '../../../src/analysis/html/image-urls.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const urls = (html: string): string[] => wantedImages(html).map(({ url }) => url);

test('wantedImages finds images, backgrounds, srcset without src, and CSS', () => {
  const html = `<style>.a { background: url("https://cdn.test/sheet.png") } /* x */
      @media (max-width: 600px) { .b { background-image: url(https://cdn.test/media.png) } }
      @font-face { font-family: X; src: url(https://cdn.test/font.woff2) }
      @import url("https://cdn.test/other.css");</style>
    <body background="https://cdn.test/body.png">
    <img src=" https://cdn.test/one.png "><img src="//cdn.test/two.png?a=1&amp;b=2#part">
    <img srcset="https://cdn.test/small.png 1x, https://cdn.test/large.png 2x">
    <img src="https://cdn.test/own.png" srcset="https://cdn.test/unused.png 2x">
    <td style="background:#fff url('https://cdn.test/cell.png') no-repeat">
    <img src="cid:logo"><img src="data:image/png;base64,AAAA"><img src="/relative.png"><img src="javascript:alert(1)">`;
  assert.deepEqual(urls(html), [
    'https://cdn.test/one.png',
    'https://cdn.test/two.png?a=1&b=2',
    'https://cdn.test/own.png',
    'https://cdn.test/body.png',
    'https://cdn.test/large.png',
    'https://cdn.test/cell.png',
    'https://cdn.test/sheet.png',
    'https://cdn.test/media.png',
  ]);
});

test('wantedImages returns each URL once, and a tracking pixel anywhere is one everywhere', () => {
  const html = `<img src="https://cdn.test/a.png"><img src="HTTPS://CDN.test/a.png#x">
    <img src="https://t.test/p.gif" width="600" height="400"><img src="https://t.test/p.gif" width="1" height="1">
    <img srcset="https://t.test/q.gif 1x" width="1" height="1">
    <img src="https://t.test/h.gif" style="display:none" width="1">`;
  assert.deepEqual(
    wantedImages(html).map(({ url, isTrackingPixel }) => [url, isTrackingPixel]),
    [
      ['https://cdn.test/a.png', false],
      ['https://t.test/p.gif', true],
      ['https://t.test/h.gif', true],
      ['https://t.test/q.gif', true],
    ],
  );
});

test('wantedImages lists a limited number, in linear time for hostile HTML', () => {
  const many = Array.from({ length: 2000 }, (_, i) => `<img src="https://cdn.test/${i}.png">`);
  assert.equal(urls(many.join('')).length, 300);
  const hostile = [
    `<style>${'@font-face {'.repeat(80_000)}</style>`,
    `<style>${`url("`.repeat(200_000)}</style>`,
    `<style>${'url('.repeat(200_000)}</style>`,
    `<style>${'@import '.repeat(100_000)}</style>`,
    `<img srcset="${'https://cdn.test/a.png 1x, '.repeat(30_000)}">`,
  ];
  const started = cpuTime();
  for (const html of hostile) wantedImages(html);
  const ms = cpuTime() - started;
  assert.ok(ms < 4000, `${ms} ms`);
});

test('imageUrlOf accepts only addresses of web servers', () => {
  assert.equal(imageUrlOf('\thttp://cdn.test:8080/a b.png\n'), 'http://cdn.test:8080/a%20b.png');
  assert.equal(imageUrlOf('//cdn.test/a.png'), 'https://cdn.test/a.png');
  for (const other of [
    '',
    'a.png',
    '/a.png',
    'cid:a',
    'ftp://a.test/a.png',
    'https:a.png',
    'https://',
    `https://a.test/${'a'.repeat(4000)}`,
  ])
    assert.equal(imageUrlOf(other), null, other.slice(0, 40));
});

test('bestCandidate takes the largest image of a srcset', () => {
  assert.equal(bestCandidate('a.png 480w, b.png 1200w, c.png 800w'), 'b.png');
  assert.equal(bestCandidate('a.png, b.png 1.5x,'), 'b.png');
  assert.equal(
    bestCandidate('https://cdn.test/w_100,h_50/a.png'),
    'https://cdn.test/w_100,h_50/a.png',
  );
  assert.equal(bestCandidate(' , '), null);
});
