/** Which mistakes in the tags are told: those that change what is shown, and no others. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanHtml } from '../../../src/analysis/content/html-scan.ts';
import * as newsletters from './newsletters.ts';

const FINE: [string, string][] = [
  ...Object.entries(newsletters),
  [
    'end tags left out',
    '<ul><li>a<li>b</ul><p>c<p>d<table><tr><td>e<td>f<tr><td>g</table><dl><dt>h<dd>i</dl>',
  ],
  [
    'end tags without a start',
    '</div></td></tr></table></p></span><p>a</p></b></center></body></html>',
  ],
  [
    'one end tag too many in a cell',
    '<table><tr><td><table><tr><td>a</td></td></tr></table></td></tr></table>',
  ],
  [
    'a div that closes an outer one',
    '<div><div><table><tr><td>a</div></td></tr></table></div></div></div>',
  ],
  ['unclosed blocks and fonts', '<center><div><font color=red><h1>a<h2>b<span>c'],
  ['crossed formatting', '<b><i>a</b></i><p><b>c<div>d</div></b></p><b><p>e</b></p>f'],
  ['formatting that ends after its block', '<p><b>a</p></b>c'],
  ['end tags at the end left out', '<table><tr><td><p>a<img src="x" width="1" height="1">'],
  [
    'a tracking pixel between rows',
    '<table><tr><td>a</td></tr><img width=1 height=1 src=x></table>',
  ],
  [
    'white space and forms between cells',
    '<table> <form action=x> &nbsp; <tr> <td>a</td> </tr></form></table>',
  ],
  ['anchors', '<a name="x">a<a name="y"/>b<a href="z">c</a>'],
  ['a tag in an attribute', '<img alt="<b>bold</b>" title=\'a > b\' src="x"><p>a</p>'],
  ['an unclosed comment at the end', '<p>a</p><!-- end'],
  ['no space between attributes', '<p class="a"id="b">a</p>'],
  ['self-closing SVG', '<svg><path d="x"/><g/><title>t</title></svg><p>a</p>'],
];

for (const [name, html] of FINE)
  test(`fine: ${name}`, () => assert.deepEqual(scanHtml(html).structure, []));

const MISTAKES: [string, string, RegExp][] = [
  [
    'an unclosed link',
    '<p><a href="x">Offer</p><p>text</p>',
    /^The link “Offer text” is never closed\.$/,
  ],
  [
    'a link that ends with its cell',
    '<table><tr><td><a href="x">Offer</td><td>b</table>',
    /“Offer” is never closed/,
  ],
  ['a link in a link', '<a href="x">one <a href="y">two</a></a>', /“one” is not closed before/],
  [
    'text between cells',
    '<table><tr>Loose<td>a</td></tr></table>',
    /“Loose” stands in a table but in none/,
  ],
  [
    'an image between rows',
    '<table><tr><td>a</td></tr><img src=x width=600></table>',
    /^An image stands/,
  ],
  ['text in a block between rows', '<table><tr><td>a</td></tr><div>Loose</div></table>', /“Loose”/],
  ['a cell without a table', '<div><td>a</td></div>', /^The tag <td> stands where no table/],
  [
    'a table in a row',
    '<table><tr><table><tr><td>a</table></table>',
    /A table begins in another one/,
  ],
  [
    'an unclosed inner table',
    '<table><tr><td><table><tr><td>a</td></tr></td></tr><tr><td>b</td></tr></table>',
    /A table is never closed/,
  ],
  ['unclosed bold', '<p><b>Note:</p><p>text</p>', /^<b> is never closed: what follows is bold too/],
  ['unclosed bold in a cell', '<table><tr><td><p><strong>a</p>b</td></tr></table>', /<strong>/],
  ['an unclosed title', '<title>News<body><p>a</p>', /^<title> is never closed/],
  ['an unclosed style', '<style>p{}<p>a</p>', /^<style> is never closed/],
  ['an unclosed comment', '<p>a</p><!-- <p>b</p>', /^A comment is never closed/],
  [
    'an unclosed quotation mark',
    '<a href="x>a</a><p class="b">c</p>',
    /^A quotation mark is missing in the tag <a>.*“href”/,
  ],
  [
    'a quotation mark that swallows all',
    '<p>a</p><a href="x>a</a><p>b</p>',
    /^The tag <a> is never finished/,
  ],
  ['a tag without its end', '<p>a<b <i>c</i>', /^The tag <b> has no “>”/],
  ['an end tag without its end', '<p>a</p <p>c</p>', /^The tag <\/p> has no “>”/],
];

for (const [name, html, says] of MISTAKES)
  test(`mistake: ${name}`, () => {
    const { structure } = scanHtml(html);
    assert.ok(
      structure.some((sentence) => says.test(sentence)),
      structure.join(' | '),
    );
  });
