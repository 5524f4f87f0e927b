// Builds an environment of deploy/kubernetes with kustomize, and checks objects by their schemas.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { ICronJob } from 'kubernetes-models/batch/v1';
import { CronJob } from 'kubernetes-models/batch/v1';
import type { IIngress, INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type {
  IConfigMap,
  INamespace,
  IPersistentVolumeClaim,
  IService,
} from 'kubernetes-models/v1';
import { ConfigMap, Namespace, PersistentVolumeClaim, Service } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';

const FOLDER = join(import.meta.dirname, '../../deploy/kubernetes');

export type Objects = {
  ConfigMap: IConfigMap;
  CronJob: ICronJob;
  Deployment: IDeployment;
  HorizontalPodAutoscaler: IHorizontalPodAutoscaler;
  Ingress: IIngress;
  Namespace: INamespace;
  NetworkPolicy: INetworkPolicy;
  PersistentVolumeClaim: IPersistentVolumeClaim;
  PodDisruptionBudget: IPodDisruptionBudget;
  Service: IService;
};
export type Built = { apiVersion: string; kind: string; metadata: { name: string } };

/** Every object of an environment. */
export function buildOverlay(environment: string): Built[] {
  return build(join(FOLDER, environment));
}

/** Every object of a kustomization. Throws if kustomize warns, as it does of deprecated fields. */
export function build(folder: string): Built[] {
  const { stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJSON());
}

export function ofKind<Kind extends keyof Objects>(
  objects: readonly Built[],
  kind: Kind,
): (Objects[Kind] & Built)[] {
  // Cast: a test checks every object against the schema of its kind.
  return objects.filter((object) => object.kind === kind) as (Objects[Kind] & Built)[];
}

const MODELS = [
  ConfigMap,
  CronJob,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Namespace,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
];

/** What is wrong with an object: what its schema refuses, and the paths that it does not have. */
export function faultsOf(object: { apiVersion: string; kind: string }): string[] {
  const { apiVersion, kind } = object;
  const model = MODELS.find((each) => each.kind === kind && each.apiVersion === apiVersion);
  if (model === undefined) return [`no schema for ${apiVersion} ${kind}`];
  const unread = new Set<string>();
  const watched = watch(object, '', unread);
  try {
    model.prototype.validate.call(watched);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  return Array.from(unread, (path) => `unknown field ${path}`);
}

/**
 * The schemas allow unknown fields, but their validators read each known one. So what they never
 * read is unknown. Adds the paths in `value` to `unread`, and deletes those that are read.
 */
function watch<Value extends object>(value: Value, path: string, unread: Set<string>): Value {
  const children = new Map<PropertyKey, unknown>();
  for (const [key, child] of Object.entries(value)) {
    const childPath = `${path}/${key}`;
    unread.add(childPath);
    const isTree = typeof child === 'object' && child !== null;
    children.set(key, isTree ? watch(child, childPath, unread) : child);
  }
  return new Proxy(value, {
    get(target, key) {
      unread.delete(`${path}/${String(key)}`);
      return children.get(key) ?? Reflect.get(target, key);
    },
  });
}
