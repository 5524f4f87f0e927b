// The style of the pages for partners' engineers: light and dark, for phones and desktops.
import { PALETTE } from './cardstyle.ts';

/** The frame, text and code, which every page has. */
export const FRAME = `${PALETTE}
:root{--shade:#1b243033}
@media (prefers-color-scheme:dark){:root{--shade:#000c}}
*{box-sizing:border-box}
html{scroll-padding-top:4.5rem;-webkit-text-size-adjust:100%}
body{margin:0;font:1rem/1.6 system-ui,sans-serif;color:var(--text);background:var(--card)}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
font-size:.9em;font-variant-ligatures:none}
a{color:var(--accent);text-underline-offset:.18em;text-decoration-thickness:.06em}
a:hover{text-decoration-thickness:.12em}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:.2rem}
main:focus{outline:0}
.skip{position:absolute;left:-999rem;top:.5rem;z-index:3;padding:.5rem 1rem;background:var(--card)}
.skip:focus{left:.5rem}
.bar{position:sticky;top:0;z-index:2;display:flex;align-items:center;gap:.75rem;
padding:.625rem clamp(1rem,4vw,2.5rem);background:var(--card);border-bottom:1px solid var(--line)}
.mark{font-weight:700;letter-spacing:-.015em;color:var(--text);text-decoration:none;white-space:nowrap}
.badge{font-size:.75rem;line-height:1;font-weight:600;padding:.3rem .5rem;border-radius:1rem;
color:var(--accent);background:var(--good)}
.badge.production{color:var(--card);background:var(--text)}
.bar nav{margin-left:auto}
.bar ul{display:flex;gap:clamp(.75rem,3vw,1.5rem);list-style:none;margin:0;padding:0}
.bar nav a{color:var(--soft);text-decoration:none;font-size:.9375rem;padding:.375rem 0}
.bar nav a:hover{color:var(--text)}
.bar nav a[aria-current]{color:var(--text);font-weight:600;
box-shadow:0 .125rem 0 var(--accent)}
.soft{color:var(--soft);font-size:.9375rem}
@media (max-width:30rem){.bar{gap:.5rem;padding-inline:.875rem}.mark{font-size:.9375rem}.bar ul{gap:.75rem}
.bar nav a{font-size:.875rem}
.bar{display:grid;grid-template-columns:auto 1fr;gap:0 .5rem;padding-block:.375rem}
.bar nav{grid-area:1/2/3/3}
.badge{justify-self:start;font-size:.6875rem;padding:.2rem .4rem}}`;

/**
 * Shows a shadow on each side that can be scrolled further. A cover that scrolls with the content
 * hides the shadow at either end.
 */
const SCROLL_SHADOWS = `background:linear-gradient(to right,var(--page) 40%,transparent) left/2.5rem
100% no-repeat local,linear-gradient(to left,var(--page) 40%,transparent) right/2.5rem 100%
no-repeat local,linear-gradient(to right,var(--shade),transparent) left/1rem 100% no-repeat scroll,
linear-gradient(to left,var(--shade),transparent) right/1rem 100% no-repeat scroll var(--page);
`;

/** With that of the start page and the reference. */
export const STYLE = `${FRAME}
h1{font-size:clamp(1.875rem,5vw,2.625rem);line-height:1.15;letter-spacing:-.025em;margin:0 0 .75rem;
text-wrap:balance}
h2{font-size:1.375rem;line-height:1.3;letter-spacing:-.012em;margin:0 0 .75rem}
h3{font-size:1.125rem;margin:2.5rem 0 .75rem}
h4{font-size:1rem;margin:0 0 .5rem}
p{margin:0 0 1rem;max-width:42rem;overflow-wrap:anywhere}
.claim{font-size:clamp(1.0625rem,2.4vw,1.25rem);color:var(--soft);text-wrap:pretty}
pre{margin:0 0 1rem;padding:1rem 1.125rem;overflow-x:auto;line-height:1.55;tab-size:2;
${SCROLL_SHADOWS}border:1px solid var(--line);border-radius:.625rem}
pre code{font-size:.875rem}
p code,li code,dd code,td code{padding:.1em .3em;border-radius:.25rem;background:var(--page);
overflow-wrap:anywhere}
main.home{max-width:58rem;margin:0 auto;padding:clamp(2rem,7vw,4.5rem) clamp(1rem,4vw,2.5rem) 4rem}
.lead{margin-bottom:2.25rem}
.facts{margin:0 0 2.75rem;border-top:1px solid var(--line)}
.facts div{display:grid;grid-template-columns:8.5rem 1fr;gap:.25rem 1.5rem;padding:.625rem 0;
border-bottom:1px solid var(--line)}
.facts dt{color:var(--soft)}
.facts dd{margin:0;overflow-wrap:anywhere}
.facts dd code{padding:0;background:none}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(16rem,100%),1fr));gap:1rem;
list-style:none;margin:2.5rem 0 0;padding:0}
.cards li{position:relative;padding:1.125rem 1.25rem;border:1px solid var(--line);
border-radius:.75rem;background:var(--card)}
.cards li:hover{border-color:var(--accent)}
.cards h2{font-size:1.0625rem;margin:0 0 .25rem}
.cards a::after{content:"";position:absolute;inset:0}
.cards p{margin:0;color:var(--soft);font-size:.9375rem}
main.docs{display:grid;grid-template-columns:14rem minmax(0,1fr);gap:clamp(1.5rem,5vw,4rem);
max-width:76rem;margin:0 auto;padding:0 clamp(1rem,4vw,2.5rem) 6rem}
.contents{position:sticky;top:3.25rem;align-self:start;max-height:calc(100vh - 3.25rem);
overflow-y:auto;padding:2.75rem .25rem 2rem;font-size:.9375rem}
.contents ul{list-style:none;margin:0;padding:0}
.contents ul ul{padding-left:.875rem;margin-bottom:.375rem;border-left:1px solid var(--line)}
.contents a{display:block;padding:.25rem 0;color:var(--soft);text-decoration:none}
.contents>ul>li>a{color:var(--text);font-weight:600}
.contents a:hover{color:var(--accent)}
.text{padding-top:2.75rem;min-width:0}
.text>section{padding-top:3rem}
.text>section>h2{font-size:1.75rem;letter-spacing:-.02em;padding-bottom:.625rem;
border-bottom:1px solid var(--line);margin-bottom:1rem}
.type{margin:0 0 1.25rem;padding:1.125rem 1.25rem .5rem;border:1px solid var(--line);
border-radius:.75rem}
.type:target,dt:target{border-color:var(--accent)}
dt:target{background:var(--good);box-shadow:0 0 0 .375rem var(--good);border-radius:.125rem}
.kind{color:var(--soft);font-weight:400}
.fields{margin:0 0 1rem}
.fields dt{margin-top:1rem;overflow-wrap:anywhere;line-height:1.5}
.builtin{color:var(--soft)}
.fields dd{margin:.125rem 0 0;color:var(--soft);font-size:.9375rem}
.fields dd p{margin:0 0 .375rem}
.fields dd ul{margin:.25rem 0 .5rem;padding-left:1.125rem}
dd .scope a{color:inherit}
.deprecated{color:var(--text);padding:.25rem .625rem;border-left:.1875rem solid var(--bad-line);
background:var(--bad);border-radius:.125rem}
.fields dd:empty{display:none}
table{margin:0 0 1rem;border-collapse:collapse;min-width:min(34rem,100%);font-size:.9375rem}
th,td{text-align:left;vertical-align:top;padding:.5rem 1.25rem .5rem 0;
border-bottom:1px solid var(--line)}
thead th{color:var(--soft);font-size:.8125rem;font-weight:600}
tbody th{font-weight:400}
th code{white-space:nowrap}
@media (max-width:52rem){
main.docs{display:block}
.contents{position:static;max-height:none;padding:1.25rem 0 0}
.contents>ul{display:flex;flex-wrap:wrap;gap:0 1.125rem}
.contents ul ul{display:none}
.text{padding-top:1.5rem}
.facts div{grid-template-columns:1fr}
}
@media print{.bar,.contents{display:none}}`;
