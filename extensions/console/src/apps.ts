// The console's section for apps: what signs a partner's members in.
import { isolated } from '@partner-loyalty/runtime/input.ts';
import type { AppInput, AppRefusal, ManagedApp } from '@partner-loyalty/runtime/manage/apps.ts';
import { noticeBox } from '@partner-loyalty/runtime/pages/cards.ts';
import { codeBlock, type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { timeText } from './format.ts';
import { actionForm, confirmed, field, hidden, type Typed, typedInto } from './forms.ts';
import type { Manage } from './manage.ts';
import { empty, facts, rowList, stateText } from './parts.ts';
import {
  ConsoleError,
  type ConsoleVisit,
  isAdmin,
  NotFoundError,
  type Section,
} from './section.ts';

const GUIDES = html`Read <a href="/docs/guides/sign-in-web">Sign in on the web</a> or
<a href="/docs/guides/sign-in-mobile">Sign in on a mobile app</a>`;

const REFUSALS: Readonly<Record<Exclude<AppRefusal['refused'], 'invalid'>, string>> = {
  unknown: 'There is no such app.',
  tooMany: 'You have reached the limit for apps. Remove one first.',
  public: 'This app is public, so it has no secret.',
  firstParty: 'Only the operator of this service can change a first-party app.',
  noPartner: 'Apps are not set up for your company yet. Ask the operator of this service.',
};
const ARGUMENTS = {
  name: 'The name',
  redirectUris: 'Each redirect URI',
  origins: 'Each origin',
};

export function createAppsSection({ apps: manage }: Pick<Manage, 'apps'>): Section {
  const idIn = ({ changed }: ConsoleVisit, form: URLSearchParams) => {
    const clientId = field(form, 'clientId');
    changed(clientId);
    return { clientId };
  };
  return {
    name: 'apps',
    title: 'Apps',
    about: 'Register web and mobile apps that your members sign in to.',
    show: async (visit) => listPage(done(await manage(visit, 'list', {})).apps, visit),
    actions: {
      async create(visit, form) {
        const made = done(await manage(visit, 'create', appIn(form)));
        visit.changed(made.app.clientId);
        return readyPage(made, 'is registered');
      },
      rotate: async (visit, form) =>
        readyPage(done(await manage(visit, 'rotate', idIn(visit, form))), 'has a new secret'),
      async remove(visit, form) {
        done(await manage(visit, 'remove', idIn(visit, form)));
        return undefined;
      },
    },
  };
}

function done<Answer extends object>(answer: Answer): Exclude<Answer, AppRefusal> {
  if (!('refused' in answer)) return answer as Exclude<Answer, AppRefusal>;
  const refusal = answer as unknown as AppRefusal; // Cast: no other answer has it.
  if (refusal.refused === 'invalid')
    throw new ConsoleError(`${ARGUMENTS[refusal.argument]} ${refusal.fault}.`);
  throw new (refusal.refused === 'unknown' ? NotFoundError : ConsoleError)(
    REFUSALS[refusal.refused],
  );
}

function appIn(form: URLSearchParams): AppInput<'create'> {
  const lines = (name: string) => field(form, name).split(/\s+/).filter(Boolean);
  const origins = lines('origins');
  return {
    name: field(form, 'name'),
    redirectUris: lines('redirects'),
    ...(origins.length > 0 && { origins }),
    isConfidential: form.get('kind') === 'confidential',
  };
}

function listPage(apps: ManagedApp[], visit: ConsoleVisit): Html {
  const items = apps.map((app) => {
    const { name, kind, isFirstParty, clientId, redirectUris, origins, createdAt } = app;
    return html`<li class="row"><h2><bdi>${name}</bdi> ${stateText(kind)}
${isFirstParty ? stateText('first-party') : ''}</h2>
${facts([
  ['Client ID', html`<code>${clientId}</code>`],
  ['Redirect URIs', linesOf(redirectUris)],
  ['Origins', origins.length === 0 ? 'None' : linesOf(origins)],
  ['Created', timeText(createdAt)],
])}
${isAdmin(visit) && !isFirstParty ? changes(app) : ''}</li>`;
  });
  const none = isAdmin(visit)
    ? 'Register a website or mobile app that members sign in to. Any OpenID Connect library works.'
    : 'An admin of your company can register one here.';
  const typed = typedInto(visit, 'create');
  const form = actionForm('apps', 'create', 'Register app', fieldsOf(typed));
  const isOpen = apps.length === 0 || typed.isRejected;
  return html`<p class="soft">Members sign in to your apps with OpenID Connect. An app gets
their data only after they agree.
${GUIDES}.</p>
${rowList(items, empty('No apps yet', none))}
${isAdmin(visit) ? confirmed('Register an app', form, isOpen, 'new') : ''}`;
}

function linesOf(values: string[]): Html {
  return html`${values.map((value) => html`<code>${value}</code><br>`)}`;
}

function changes({ clientId, name, kind }: ManagedApp): Html {
  const id = hidden('clientId', clientId);
  const rotating = html`<p>The new secret of <bdi>${name}</bdi> is shown once. The old one works for another
24 hours.</p>${actionForm('apps', 'rotate', 'Create a new secret', id)}`;
  const removing = html`<p>Members can no longer sign in to <bdi>${name}</bdi>, and its tokens stop working within 5
seconds. This cannot be undone.</p>${actionForm('apps', 'remove', 'Remove this app', id, 'danger')}`;
  return html`<div class="actions">${kind === 'public' ? '' : confirmed('New secret', rotating)}
${confirmed('Remove', removing)}</div>`;
}

function fieldsOf({ value, checked }: Typed): Html {
  return html`<label for="name">Name, as members see it</label>
<input id="name" name="name" value="${value('name')}" maxlength="100" autocomplete="off" required>
<fieldset><legend>Where it runs</legend>
<label class="box"><input type="radio" name="kind" value="public"${checked('kind', 'public', true)}> <span>In a browser or on a
device: public, without a secret</span></label>
<label class="box"><input type="radio" name="kind" value="confidential"${checked('kind', 'confidential')}> <span>On your server:
confidential, with a secret</span></label>
</fieldset>
<label for="redirects">Redirect URIs, one per line</label>
<textarea id="redirects" name="redirects" rows="3" spellcheck="false" aria-describedby="redirect-hint"
 required>${value('redirects')}</textarea>
<p class="soft" id="redirect-hint">Where members return after they sign in. Your app must send
exactly the same URI: https, or a custom scheme such as com.example.app:/callback; for a public app
on a device also http://127.0.0.1, and in a sandbox any http URI.</p>
<label for="origins">Origins of its pages, one per line (optional)</label>
<textarea id="origins" name="origins" rows="2" spellcheck="false" aria-describedby="origin-hint">
${value('origins')}</textarea>
<p class="soft" id="origin-hint">For example, https://app.example.com, or capacitor://localhost for
a hybrid app. If you leave this empty, the origins of the https redirect URIs apply.</p>`;
}

/** A secret is only on this page. */
function readyPage(
  { app, secret }: { app: ManagedApp; secret?: string | undefined },
  what: string,
): Html {
  const saving = html`<p>Save its secret now: it is not shown again.</p>${codeBlock('Secret', secret ?? '')}`;
  return html`${noticeBox(`${isolated(app.name)} ${what}.`, false)}
<p>Its client ID is <code>${app.clientId}</code>. ${GUIDES}.</p>
${secret === undefined ? '' : saving}
<p><a href="/console/apps">${secret === undefined ? 'Back to the apps' : 'I have saved it: back to the apps'}</a></p>`;
}
