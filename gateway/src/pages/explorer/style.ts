// The style of the explorer: panes side by side, or below each other on a phone.
import { FRAME } from '../style.ts';

export const EXPLORER_STYLE = `${FRAME}
:root{--code-keyword:#8a2a77;--code-string:#0a5c36;--code-number:#8a4b00;--code-name:#0b57a4;
--selection:#cfe3f7}
@media (prefers-color-scheme:dark){:root{--code-keyword:#f0a6dd;--code-string:#8fdcae;
--code-number:#f2bd7d;--code-name:#8ec5ff;--selection:#2b4a6b}}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
[hidden]{display:none!important}
main.explorer{display:flex;flex-direction:column}
button,input,select{font:inherit;font-size:.9375rem;min-height:2.25rem;padding:.25rem .75rem;
border-radius:.4rem;color:var(--text);background:var(--card);border:1px solid var(--field)}
button{font-weight:600;color:var(--on-accent);background:var(--accent);border-color:transparent;
cursor:pointer}
button:hover{filter:brightness(1.08)}
button:active{filter:brightness(.92)}
button.quiet{color:var(--text);background:none;border-color:var(--line)}
.credential{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem .625rem;
padding:.75rem clamp(1rem,4vw,2.5rem);background:var(--page);border-bottom:1px solid var(--line)}
.credential label{font-weight:600;font-size:.9375rem}
.credential p{flex-basis:100%;margin:0;font-size:.8125rem}
.secret{flex:1 1 16rem;min-width:0;max-width:34rem;font-family:ui-monospace,Menlo,Consolas,monospace}
.secret:not(:placeholder-shown){-webkit-text-security:disc}
::placeholder{color:var(--soft);opacity:1}
.notice{margin:0;padding:.75rem clamp(1rem,4vw,2.5rem);background:var(--good);overflow-wrap:anywhere}
#variables-problem{padding:.5rem 1rem;font-size:.9375rem}
.problem{background:var(--bad);border-left:.25rem solid var(--bad-line)}
.panes{flex:1;display:grid;grid-template-columns:minmax(0,1.2fr) minmax(0,1fr) minmax(0,20rem);
grid-template-rows:minmax(0,1fr);min-height:34rem}
.panes>section{display:flex;flex-direction:column;min-width:0;border-right:1px solid var(--line)}
.panes>section:last-child{border-right:0}
.tools{display:flex;align-items:center;gap:.5rem;min-height:3.5rem;padding:.5rem 1rem;
border-bottom:1px solid var(--line)}
.tools h2{flex:1;font-size:1rem;margin:0}
.tools select{min-width:0;max-width:16rem;flex:0 1 auto;padding-inline:.5rem;text-overflow:ellipsis}
.tools button{padding-inline:.625rem}
.tools input{min-width:0;width:11rem}
.tools p{margin:0;font-size:.9375rem}
#outcome{font-weight:600;font-variant-numeric:tabular-nums;color:var(--code-string)}
#outcome[data-failed=true]{color:var(--bad-line)}
.operation h3{font-size:.875rem;margin:0;padding:.5rem 1rem;color:var(--soft);
border:solid var(--line);border-width:1px 0}
.editor{position:relative;min-height:6rem;overflow:hidden}
.editor:focus-within::after{content:"";position:absolute;inset:0;pointer-events:none;
border:2px solid var(--accent)}
#operation{flex:1}
#variables{flex:0 0 11rem}
#response{flex:1}
#headers{display:flex;flex-wrap:wrap;gap:.375rem 1.5rem;margin:0;padding:.5rem 1rem;
border-bottom:1px solid var(--line);font-size:.8125rem}
#headers:empty{display:none}
#headers dt{color:var(--soft)}
#headers dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.schema>p{margin:0;padding:.625rem 1rem}
#types{flex:1;min-height:0;overflow-y:auto;padding:0 1rem}
details{border-top:1px solid var(--line)}
summary{padding:.5rem 0;font-weight:600;cursor:pointer}
details p{margin:0 0 .25rem;color:var(--soft);font-size:.875rem;overflow-wrap:anywhere}
.entry{padding:.25rem 0 .375rem .875rem;overflow-wrap:anywhere}
.entry{line-height:1.45}
.entry code{font-size:.8125rem}
.entry p{font-size:.8125rem}
details p.deprecated{color:var(--text)}
.end{border-top:1px solid var(--line);font-size:.8125rem}
kbd{font:inherit;font-weight:600}
@media (min-width:75.01rem){
body{display:flex;flex-direction:column;height:100vh;min-height:36rem}
main.explorer{flex:1;min-height:0}
.panes,.panes>section{min-height:0}
.editor{min-height:4rem}
}
@media (max-width:75rem){
.panes{grid-template-rows:none;grid-template-columns:minmax(0,1fr) minmax(0,1fr)}
.schema{grid-column:1/-1;border-top:1px solid var(--line)}
#types{overflow:visible}
}
@media (max-width:48rem){
.panes{display:block}
.panes>section{border-right:0;border-bottom:1px solid var(--line)}
#operation{min-height:16rem}
#response{min-height:14rem}
.tools{flex-wrap:wrap}
.secret{flex-basis:100%}
.tools select{flex:1 1 100%;order:1;max-width:none}
}`;
