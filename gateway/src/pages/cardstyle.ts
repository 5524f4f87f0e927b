// The style of the pages: light and dark, for phones and desktops.

/** The colours of all pages. */
export const PALETTE = `:root{color-scheme:light dark;
--page:#f3f5f8;--card:#fff;--text:#1b2430;--soft:#566273;--line:#d5dbe3;--field:#7b8794;
--accent:#0b57a4;--on-accent:#fff;--good:#e6f1fb;--bad:#fdeceb;--bad-line:#b3261e}
@media (prefers-color-scheme:dark){:root{
--page:#11161d;--card:#1a212b;--text:#e8edf3;--soft:#a7b3c2;--line:#333e4c;--field:#7f8c9b;
--accent:#8ec5ff;--on-accent:#0b1a2b;--good:#16293d;--bad:#3a1d1d;--bad-line:#ff8a80}}`;

/** The style of a small page in a card. */
export const STYLE = `${PALETTE}
*{box-sizing:border-box}
body{margin:0;font:1.0625rem/1.55 system-ui,sans-serif;color:var(--text);background:var(--page)}
main{max-width:34rem;margin:clamp(0rem,6vw,4rem) auto;
padding:2rem clamp(1.25rem,5vw,2.5rem) 2.5rem;
background:var(--card);border:1px solid var(--line);border-radius:1rem}
@media (max-width:36rem){body{background:var(--card)}main{border:0}}
h1{font-size:1.625rem;line-height:1.25;letter-spacing:-.01em;margin:0 0 1.25rem;text-wrap:balance}
h2{font-size:1.125rem;margin:2.25rem 0 .5rem}
p{margin:0 0 1rem}
.end{margin:2rem 0 0}
.soft{color:var(--soft);font-size:.9375rem}
label{display:block;font-weight:600;margin-bottom:.375rem}
input,button{font:inherit;width:100%;min-height:3rem;padding:.625rem .875rem;border-radius:.5rem}
input{color:inherit;background:var(--card);border:1px solid var(--field)}
button{margin-top:.75rem;border:1px solid transparent;
background:var(--accent);color:var(--on-accent);font-weight:600;cursor:pointer}
.plain{background:none;border-color:var(--field);color:inherit}
.list{list-style:none;padding:0;margin:0}
.list li{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center;
padding:.5rem 0;border-bottom:1px solid var(--line)}
.list span{flex:1 1 12rem;overflow-wrap:anywhere}
.list button{width:auto;margin:0;font-weight:400}
main a{color:var(--accent)}
ul{padding-left:1.25rem}
input+label{margin-top:.75rem}
button:hover{filter:brightness(1.08)}
button:active{filter:brightness(.92)}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.5rem .75rem .5rem 0;
border-bottom:1px solid var(--line);overflow-wrap:anywhere}
thead th{color:var(--soft);font-size:.875rem;font-weight:600}
tbody th{font-weight:400}
.number{text-align:right;padding-right:0;font-variant-numeric:tabular-nums}
.notice{border-left:.25rem solid var(--accent);border-radius:.25rem;background:var(--good);
padding:.75rem 1rem;margin:0 0 1.5rem;overflow-wrap:anywhere}
.problem{border-color:var(--bad-line);background:var(--bad)}
dl{display:grid;grid-template-columns:auto 1fr;gap:.375rem 1.5rem;margin:0}
dt{color:var(--soft)}
dd{margin:0;font-weight:600;overflow-wrap:anywhere}
@media (max-width:26rem){dl{display:block}dd{margin-bottom:.5rem}}`;
