/** What placeholders of mailing programs look like where nothing was filled in. */

/** A name as people give fields: `first_name`, `contact.FirstName`. */
const NAME = '[\\p{L}_][\\p{L}\\p{N}_.-]{0,60}';
/** Names that are fields even between signs that mean nothing by themselves. */
const PERSON =
  '(?:(?:first|last|full|user|your|recipient|customer|contact|company|business)[ _-]?name|fname|lname)';
const FIELD = `(?:${PERSON}|email(?:[ _-]?address)?|unsubscribe(?:[ _-]?(?:link|url))?)`;

const either = (...patterns: string[]): RegExp => new RegExp(patterns.join('|'), 'giu');

/**
 * All bounded, so that no text makes them slow. Each begins with signs that are rare in honest text;
 * where they are not, the name is one of a few or all in capitals.
 */
const TAGS = either(
  // Handlebars, Liquid, Mustache, Jinja: {{name}}, {{{name}}}, {{ name | default: "x" }}, {{#if name}}.
  `\\{\\{\\{?[ \\t]{0,5}[#/^&>~]?[ \\t]{0,5}${NAME}(?:[ \\t]{1,3}${NAME}){0,3}[ \\t]{0,5}(?:\\|[^{}\\n]{0,80})?\\}\\}\\}?`,
  '\\{%-?[ \\t]{0,5}(?:if|elsif|elif|else|endif|unless|endunless|for|endfor|case|when|endcase|assign|set)\\b[^{}%\\n]{0,100}%\\}',
  // Mailchimp.
  '\\*\\|[A-Z][A-Z0-9_:. -]{0,60}\\|\\*',
  // Salesforce: %%FirstName%%, %%=v(@name)=%%.
  '(?<![\\p{N}%])%%=?[ \\t]?[\\p{L}_@][\\p{L}\\p{N}_@.() -]{0,60}=?%%',
  // ERB, EJS, ASP: <%= name %>.
  '<%=?[ \\t]{0,5}[\\p{L}_@$][^%<>\\n]{0,80}%>',
  // JSP, Velocity, Freemarker, template strings.
  `\\$\\{[ \\t]{0,3}${NAME}(?:\\[[^\\]\\n]{0,40}\\])?(?:![^{}\\n]{0,40})?[ \\t]{0,3}\\}`,
  `(?<!#)##${NAME}##(?!#)`,
  `\\[\\[[ \\t]{0,3}(?:data:)?(?:${FIELD}|[a-z]{1,30}_[a-z_]{1,30})[ \\t]{0,3}\\]\\]`,
  `[[{«][ \\t]{0,3}${PERSON}[ \\t]{0,3}[\\]}»]`,
  `(?<![\\p{L}\\p{N}%])%${FIELD}%(?![\\p{L}\\p{N}%])`,
);

/** %FIRSTNAME% or %first_name%: not after a digit, where it is a percentage. */
const PERCENT =
  /(?<![\p{L}\p{N}%])%(?:[A-Z][A-Z0-9_]{2,40}|[a-z]{1,30}_[a-z_]{1,40})%(?![\p{L}\p{N}%])/gu;
/** Variables of Windows, which instructions may name. */
const WINDOWS =
  /^%(?:APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|PROGRAMW6432|COMMONPROGRAMFILES|SYSTEMROOT|SYSTEMDRIVE|WINDIR|TEMP|TMP|PATH|PATHEXT|COMSPEC|USERPROFILE|USERNAME|USERDOMAIN|COMPUTERNAME|HOMEDRIVE|HOMEPATH|PUBLIC|ALLUSERSPROFILE)%$/;
/** Variables of shells, which are no fields of a mailing list. */
const SHELL = /^\$\{(?:HOME|PATH|USER|PWD|SHELL|LANG|EDITOR|TERM|\w{0,20}_(?:HOME|PATH|DIR))\}$/;

/** As much of a text as is looked at, in characters, and tags that are kept of it. */
export const MAX_TEXT = 1_000_000;
const MAX_TAGS = 50;

/** The different tags in a text that people read, in their order; at most 50. */
export function tagsInText(text: string): string[] {
  const cut = text.slice(0, MAX_TEXT);
  const found = new Set<string>();
  for (const pattern of [TAGS, PERCENT])
    for (const [tag] of cut.matchAll(pattern)) {
      if (WINDOWS.test(tag) || SHELL.test(tag)) continue;
      found.add(tag);
      if (found.size >= MAX_TAGS) break;
    }
  return [...found];
}

/**
 * The same in an address, where `%20` is a space: the brackets and bars of tags are decoded, and what
 * could be a percent-encoded octet is no tag.
 */
export function tagsInAddress(address: string): string[] {
  const decoded = address
    .slice(0, 4000)
    .replace(/%(?:7[bcd]|5[bd]|2a|24|3[ce])/gi, (code) => decodeURIComponent(code))
    .replace(/%[0-9a-f]{2}/gi, ' ');
  return tagsInText(decoded);
}
