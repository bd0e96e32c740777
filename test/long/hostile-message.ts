/** A message that tries every way to escape from the frame that displays it. */

/** The URL that an attempt requests if it works; the host name identifies it: `img.leak.example`. */
const leak = (name: string): string => `http://${name}.leak.example/${name}`;

/** The attempts that work in a browser without protection, by the first label of the host name. */
export const LEAKS = [
  'img',
  'srcset',
  'background',
  'import',
  'style',
  'inline-style',
  'font',
  'stylesheet',
  'script',
  'fetch',
  'iframe',
  'nested',
  'object',
  'embed',
  'video',
  'poster',
  'audio',
  'input',
  'svg-image',
  'base',
];

const LOG_RUN = (name: string): string => `console.log('ran: ${name}')`;

/** Every script logs `ran: …` to the console; every URL has a host name below `leak.example`. */
export const HOSTILE_HTML = `<!doctype html><html manifest="${leak('manifest')}"><head>
<title>Hello</title></iframe><script>${LOG_RUN('after a closing iframe')}</script>
<base href="http://base.leak.example/" target="_top">
<link rel="stylesheet" href="${leak('stylesheet')}"><link rel="icon" href="${leak('icon')}">
<link rel="prefetch" href="${leak('prefetch')}"><link rel="preload" as="image" href="${leak('preload')}">
<link rel="preconnect" href="${leak('preconnect')}"><link rel="dns-prefetch" href="//dns.leak.example">
<style>@import url(${leak('import')}); @font-face { font-family: f; src: url(${leak('font')}) }
p { font-family: f; background: url("${leak('style')}") }</style>
<script>${LOG_RUN('script')}; fetch('${leak('fetch')}', { mode: 'no-cors' }).catch(() => {});
try { top.document.title = 'taken' } catch {} try { alert(1) } catch {}</script>
<script src="${leak('script')}"></script>
</head><body background="${leak('background')}" onload="${LOG_RUN('onload')}">
<p id="first" style="background-image:url(${leak('inline-style')})">Text in <b>another</b> font</p>
<img src="${leak('img')}" onerror="${LOG_RUN('onerror')}"><img srcset="${leak('srcset')} 1x">
<img src="relative.png"><img src="x" onerror=${LOG_RUN('bare').replaceAll(' ', '')}>
<svg onload="${LOG_RUN('svg')}"><image href="${leak('svg-image')}" /><script>${LOG_RUN('svg script')}</script></svg>
<math><mtext></mtext><style><img src="x" onerror="${LOG_RUN('mutation')}"></style></math>
<iframe src="${leak('iframe')}"></iframe>
<iframe srcdoc="&lt;img src=${leak('nested')}&gt;&lt;script&gt;${LOG_RUN('nested')}&lt;/script&gt;"></iframe>
<iframe src="javascript:${LOG_RUN('javascript')}"></iframe>
<object data="${leak('object')}"></object><embed src="${leak('embed')}">
<video src="${leak('video')}" poster="${leak('poster')}" autoplay></video><audio src="${leak('audio')}" autoplay></audio>
<input type="image" src="${leak('input')}">
<form id="f" action="${leak('form')}" target="_top"><button id="submit">Send</button></form>
<a id="link" href="${leak('link')}">A link</a> <a id="self" target="_self" href="${leak('self')}">Self</a>
<svg width="99" height="20"><a id="svg-link" xlink:href="${leak('svg-link')}"><text y="15">SVG</text></a></svg>
<a id="run" href="javascript:${LOG_RUN('link')}">Run</a>
<p>" onmouseover="${LOG_RUN('attribute')}" x="</p></textarea></style></title></template>--></iframe></iframe>
<script>document.getElementById('f').submit()</script>
<meta http-equiv="refresh" content="0;url=${leak('refresh')}">
<meta http-equiv="Content-Security-Policy" content="default-src *">
</body></html>`;

/** Without the attempts that navigate away, so that a control test can observe all others. */
export const UNGUARDED_HTML = HOSTILE_HTML.replace(/<script>document\.getElement.*/s, '');
