/** The merge tags of templates: complete ones in many syntaxes, and broken ones. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeTags } from '../../../src/analysis/checks/merge-tags.ts';
import { runCheck } from '../../helpers/analysis.ts';

const template = (body: string) =>
  runCheck(mergeTags, {
    message: `Content-Type: text/html; charset=utf-8\n\n<html lang="en"><body>${body}</body></html>\n`,
    isTemplate: true,
  });

const brokenIn = async (body: string) => {
  const { status, evidence } = await template(body);
  const broken = evidence!.broken as { tag: string; problem: string }[];
  assert.equal(status, broken.length > 0 ? 'fail' : 'pass', body);
  return broken.map(({ tag, problem }) => `${tag} ${problem}`);
};

const COMPLETE = [
  ['Handlebars', '{{#if paid}}{{{html}}}{{else}}{{total}}{{/if}} {{!-- note --}}{{! note }}'],
  [
    'Handlebars',
    '{{~#each rows~}}{{@index}} {{this.name}}{{~/each~}}{{^none}}x{{/none}}{{> footer}}',
  ],
  ['Mustache', '{{#rows}}{{.}}{{/rows}}{{^rows}}none{{/rows}}{{&raw}}'],
  [
    'Liquid',
    '{%- unless a == "x" -%}a{% elsif b %}b{%- endunless -%}{{ name | default: "there" }}',
  ],
  [
    'Liquid',
    '{% case a %}{% when 1 %}x{% else %}y{% endcase %}{% assign b = 1 %}{% raw %}{{{% endraw %}',
  ],
  [
    'Jinja',
    '{% for a in b %}{{ a.c|replace("<br>", " ") }}{% else %}no{% endfor %}{# note #}{% set x = 1 %}',
  ],
  [
    'Jinja',
    '{% set text %}long{% endset %}{% trans %}Hi{% endtrans %}{% trans "Hi" %}{% block a %}{% endblock a %}',
  ],
  ['Twig', '{{ "now"|date("Y") }}{% if a in [1, 2] %}x{% endif %}{{ a ? "b" : "c" }}'],
  ['Go', '{{ if .Paid }}{{ .Name }}{{ else }}x{{ end }}{{- range .Rows }}{{ . }}{{ end -}}'],
  ['Mailchimp', '*|IF:VIP|* *|FNAME|* *|ELSEIF:NEW|* a *|ELSE:|* b *|END:IF|* *|DATE:d. m. Y|*'],
  ['Mailchimp', '*|IFNOT:VIP|*a*|END:IF|* *|RSSITEMS:|**|RSSITEM:TITLE|**|END:RSSITEMS|*'],
  [
    'AMPscript',
    '%%[ SET @a = 1 IF @a > 1 THEN ]%%x%%[ ELSE ]%%y%%[ ENDIF ]%% %%=v(@a)=%% %%First Name%%',
  ],
  [
    'ERB',
    '<% if @user.vip? %><%= @user.name %><% else %>x<% end %><% rows.each do |row| %>a<% end %>',
  ],
  [
    'EJS',
    '<% if (vip) { %><%= name %><% } else { %><%- html %><% } %><% rows.forEach((r) => { %>a<% }); %>',
  ],
  ['SendGrid', '<%asm_group_unsubscribe_raw_url%> -name- {{{unsubscribe}}}'],
  ['Mailgun', '%recipient.first_name% %unsubscribe_url%'],
  ['Mailjet', '[[data:firstname:"there"]] {{var:name:"friend"}}'],
  ['Braze', `{{\${first_name} | default: "there"}} {{custom_attribute.\${plan}}}`],
  [
    'HubSpot',
    '{{ contact.firstname }}{% module "x" path="/a" label="b" %}{% widget_block rich_text "a" %}{% end_widget_block %}',
  ],
  [
    'Klaviyo',
    `{{ person.first_name|default:'' }} {% unsubscribe 'here' %} {% if event %}x{% endif %}`,
  ],
  ['FreeMarker', `\${user.name!"there"}`],
  [
    'attribute',
    '<a href="{{ url }}?x={{ id }}" {% if a %}class="b"{% endif %} title=\'*|A|*\'>text</a>',
  ],
  ['style', '<style>@media print{#a{color:red}}b{width:50%}.c{color:{{ color }}}</style>'],
  ['script', '<script type="application/ld+json">{"a":{"b":{"c":1}}}</script>'],
  ['comment', '<!--[if mso]><table><tr><td width="600"><![endif]--><!-- {{ -->'],
  ['text', 'Save 50%% or 20% today. Use {a} [b] <b>-c-</b> a || b, $5 {100} and 100%.'],
  ['text', 'Line 1 | line 2 * line 3, {"json": {"a": 1} }, 5 % off % today'],
];

for (const [name, body] of COMPLETE)
  test(`a template with complete ${name} tags passes: ${body!.slice(0, 50)}`, async () => {
    assert.deepEqual(await brokenIn(`<p>${body}</p>`), []);
  });

const BROKEN: [string, string][] = [
  ['Dear {{ last_name }, thanks', '{{ last_name } is not closed with }}'],
  ['Dear {{last_name<br>thanks {{ b }}', '{{last_name is not closed with }}'],
  ['Dear {last_name}}, thanks', '{last_name}} does not start with {{'],
  ['Dear last_name }}, thanks', 'last_name }} does not start with {{'],
  ['{{{ html }} x', '{{{ html }} is not closed with }}}'],
  ['{{ a {{ b }} }}', '{{ a {{ b }} }} has another merge tag inside: {{ before }}'],
  ['{% if {{ a }} %}x{% endif %}', '{% if {{ a }} %} has another merge tag inside: {{ before %}'],
  ['{{name}}} x', '{{name}}} has one closing brace too many'],
  ['{{ a | default: “b” }}', '{{ a | default: “b” }} has curly quotes inside'],
  ['{% if&nbsp;a %}x{% endif %}', '{% if&nbsp;a %} has a non-breaking space inside'],
  ['<td class={% if a %}b{% endif %}>x</td>', 'class={% if a %} is in an attribute without quotes'],
  ['{{<b>name</b>}}', '{{<b>name</b>}} has HTML inside'],
  ['{% if a %}x', '{% if a %} is not closed with {% endif %}'],
  ['x{% endfor %}', '{% endfor %} closes a block that is not open'],
  ['{% else %}', '{% else %} is not inside a block'],
  ['{% for a in b %}{% if c %}x{% endfor %}', '{% if c %} is not closed with {% endif %}'],
  ['{% if a x', '{% if a x is not closed with %}'],
  ['{{#each rows}}x', '{{#each rows}} is not closed with {{/each}}'],
  ['x{{/if}}', '{{/if}} closes a block that is not open'],
  ['{{ range .Rows }}x', '{{ range .Rows }} is not closed with {{end}}'],
  ['*|FNAME* hello', '*|FNAME* hello is not closed with |*'],
  ['FNAME|* hello', 'FNAME|* does not start with *|'],
  ['*|IF:A|*x', '*|IF:A|* is not closed with *|END:IF|*'],
  ['x*|END:IF|*', '*|END:IF|* closes a block that is not open'],
  ['%%FirstName% hello', '%%FirstName% is not closed with %%'],
  ['%%[ IF @a THEN ]%%x', '%%[ IF @a THEN ]%% is not closed with %%[ ENDIF ]%%'],
  ['%%=v(@a) hello', '%%=v(@a) hello is not closed with =%%'],
  ['%recipient.name hello', '%recipient.name is not closed with %'],
  ['<%= name > hello', '<%= name is not closed with %>'],
  ['<% if a %>x', '<% if a %> is not closed with <% end %>'],
  ['<% if (a) { %>x', '<% if (a) { %> is not closed with <% } %>'],
  [`\${name hello`, `\${name hello is not closed with }`],
  ['[[first_name] hello', '[[first_name] is not closed with ]]'],
  ['<a href={{url}}>x</a>', 'href={{url}} is in an attribute without quotes'],
  ['<td width=100{{ w }} align="left">x</td>', 'width={{ w }} is in an attribute without quotes'],
  ['<img alt=*|NAME|* src="a">', 'alt=*|NAME|* is in an attribute without quotes'],
];

for (const [body, expected] of BROKEN)
  test(`a template with ${body} fails: ${expected}`, async () => {
    assert.deepEqual(await brokenIn(`<p>${body}</p>`), [expected]);
  });

test('a broken tag is found in the subject, an address and the text part, with its place', async () => {
  const { evidence } = await runCheck(mergeTags, {
    message: 'From: {{ name } <a@shop.example>\nSubject: *|FNAME, news\n\nHello\n{% if vip %}you\n',
    isTemplate: true,
  });
  const broken = evidence!.broken as { place: string }[];
  assert.deepEqual(
    broken.map(({ place }) => place),
    ['from', 'subject', 'text part line 2'],
  );
});

test('in a sent message, a complete tag is still unfilled', async () => {
  const { status } = await runCheck(mergeTags, { message: 'Subject: a\n\nHello {{ name }}\n' });
  assert.equal(status, 'fail');
});
